//! The parts of a measurement besides the server. `scripts/bench` starts them; each is a subcommand and runs on one thread.
#![allow(clippy::print_stdout, reason = "a program for the command line")]
#![allow(clippy::disallowed_methods, reason = "its tasks may end with it")]

mod floor;
mod http;
mod load;
mod model;
mod relay;

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
#[command(about = "What scripts/bench measures the server with")]
enum Command {
    /// Sends turns and reads their events
    Load(load::Args),
    /// Serves Ollama's API: a chat streams the same pieces every time
    Model(model::Args),
    /// Passes a stream on and does nothing else
    Relay(relay::Args),
    /// Writes the rows of a stored turn again and again
    Floor(floor::Args),
    /// Stores many copies of a turn, so that the database has a size
    Fill(floor::FillArgs),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match Command::parse() {
        Command::Load(args) => load::run(args).await,
        Command::Model(args) => model::run(args).await,
        Command::Relay(args) => relay::run(args).await,
        Command::Floor(args) => floor::run(&args),
        Command::Fill(args) => floor::fill(&args),
    }
}

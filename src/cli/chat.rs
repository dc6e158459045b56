//! `frontdesk chat`: a conversation in a terminal, or through a pipe, by the same HTTP contract as any other client.
//!
//! - `server`: the server it talks to: the one that runs, or one of its own
//! - `client`, `events`: the contract's other end
//! - `input`, `screen`, `typeset`: the person's end
//! - `session`: what is said between the two

use std::io;
use std::pin::pin;

use anyhow::{Context, bail};
use tokio_util::sync::CancellationToken;

use self::client::Client;
use self::screen::Screen;
use self::server::Server;
use self::session::Session;
use super::logging::{self, Terminal};
use super::serve::Prepared;
use super::signals::Signals;
use crate::config::{Config, KeyEntry};
use crate::domain::{Language, TenantId};
use crate::persona::Prompts;

mod client;
mod events;
mod input;
mod screen;
mod server;
mod session;
mod typeset;

/// The arguments of `frontdesk chat`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The persona to talk to: a file's stem under prompts/
    #[arg(long, value_name = "NAME")]
    persona: Option<String>,
    /// The language to begin in: vi or en; otherwise the first message decides
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// The server to talk to; otherwise the one that runs here, or one for this conversation alone
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

pub(super) async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    logging::init(&config.log, Terminal::Conversation, None)?;
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let mut screen = Screen::of_process();
    let key = config.auth.keys.as_deref().and_then(key_of).map(str::to_owned);
    let names = Names::read(&config, args);
    let server = match &args.url {
        Some(url) => Server::Elsewhere(url.clone()),
        None => tokio::select! {
            server = server::find_or_start(config) => server?,
            _ = signals.next() => return Ok(()),
        },
    };
    let client = Client::new(server.address(), key)?;
    let ended = match server {
        Server::Elsewhere(address) => {
            if args.url.is_none() {
                screen.remark(&format!("Talking to the server that runs at {address}."))?;
            }
            talk(&client, args, &names, &mut screen, &mut signals).await
        }
        Server::Own(own) => {
            if let Some(remark) = own.remark() {
                screen.remark(&remark)?;
            }
            // The lock is held until the end.
            let Prepared { app, listener, lock: _held, .. } = *own.prepared;
            let stop = CancellationToken::new();
            let mut served = pin!(crate::http::serve(app, listener, stop.clone().cancelled_owned()));
            let ended = tokio::select! {
                ended = talk(&client, args, &names, &mut screen, &mut signals) => ended,
                () = &mut served => bail!("the server of this conversation has ended"),
            };
            stop.cancel();
            // A reply that nobody waits for may still be written.
            tokio::select! {
                () = served => {}
                _ = signals.next() => {}
            }
            ended
        }
    };
    match ended {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        Ok(0) => Ok(()),
        Ok(unanswered) => bail!("{unanswered} of the messages got no answer"),
        Err(error) => Err(error),
    }
}

/// Whether a server answers at the address that it gave.
pub(super) async fn answers(address: &str) -> bool {
    match server::reachable(address).and_then(|address| Client::new(&address, None)) {
        Ok(client) => client.is_up().await,
        Err(_) => false,
    }
}

/// Opens a conversation and holds it; gives how many messages of a pipe got no answer.
async fn talk(
    client: &Client,
    args: &Args,
    names: &Names,
    screen: &mut Screen,
    signals: &mut Signals,
) -> anyhow::Result<u32> {
    let opened = tokio::select! {
        opened = client.open(args.persona.as_deref(), args.language) => opened?,
        _ = signals.next() => return Ok(0),
    };
    let name = names.of(&opened.persona);
    Session::new(client, opened.id, name, screen, signals).hold(&opened.greeting.text).await
}

/// What the personas are called. The contract tells a persona's file; the name in it is known where the file is.
struct Names(Option<Prompts>);

impl Names {
    fn read(config: &Config, args: &Args) -> Self {
        let here = args.url.is_none();
        Self(here.then(|| Prompts::load(&config.prompts.folder, &config.prompts.persona).ok()).flatten())
    }

    fn of(&self, persona: &str) -> String {
        let known = self.0.as_ref().and_then(|prompts| prompts.find_persona(persona));
        known.map_or_else(|| persona.to_owned(), |persona| persona.name.clone())
    }
}

/// The key to come with: the default tenant's, else the first one.
fn key_of(keys: &[KeyEntry]) -> Option<&str> {
    let own = keys.iter().find(|entry| entry.tenant == TenantId::DEFAULT);
    own.or_else(|| keys.first()).map(|entry| entry.key.as_str())
}

/// Whoever read our output has seen enough (`frontdesk chat | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_tenants_key_comes_before_the_first() {
        let key = |tenant: &str, key: &str| KeyEntry { tenant: tenant.to_owned(), key: key.to_owned() };
        assert_eq!(key_of(&[key("a", "1"), key("default", "2")]), Some("2"));
        assert_eq!(key_of(&[key("a", "1"), key("b", "2")]), Some("1"));
        assert_eq!(key_of(&[]), None);
    }
}

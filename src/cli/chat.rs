//! `frontdesk chat`: a chat in a terminal or through a pipe, as a client of the HTTP API.
//!
//! - `server`: finds the running server or starts one
//! - `client`, `events`: the HTTP client and its event stream
//! - `input`, `screen`, `typeset`: the terminal
//! - `session`: the chat itself

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
use crate::app::PartState;
use crate::config::{Config, KeyEntry};
use crate::domain::identity::e164::E164;
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
    /// The persona to talk to: a file name under prompts/ without extension
    #[arg(long, value_name = "NAME")]
    persona: Option<String>,
    /// The initial language, vi or en [default: the language of the first message]
    #[arg(long, value_name = "CODE")]
    language: Option<Language>,
    /// The customer's telephone number, such as +254700000001, as a channel would name it
    #[arg(long, value_name = "NUMBER")]
    phone: Option<E164>,
    /// The server to talk to [default: the one that runs here, else a temporary one]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

pub(super) async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    logging::init(&config.log, Terminal::Conversation, None)?;
    let mut signals = Signals::listen().context("cannot listen to signals")?;
    let mut screen = Screen::of_process();
    let key = config.auth.keys.as_deref().and_then(key_of).map(str::to_owned);
    // A server elsewhere has other personas.
    let is_here = args.url.is_none();
    let prompts = is_here.then(|| Prompts::load(&config.prompts.folder, &config.prompts.persona).ok()).flatten();
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
                screen.remark(&format!("Talking to the server at {address}."))?;
            }
            talk(&client, args, prompts.as_ref(), &mut screen, &mut signals).await
        }
        Server::Own(prepared, model) => {
            if model == PartState::Down {
                screen.remark("The language model does not answer: rules classify and replies quote documents.")?;
            }
            // Keep the lock until the end.
            let Prepared { app, listener, lock: _held, .. } = *prepared;
            let stop = CancellationToken::new();
            let mut served = pin!(crate::http::serve(app, listener, stop.clone().cancelled_owned()));
            let ended = tokio::select! {
                ended = talk(&client, args, prompts.as_ref(), &mut screen, &mut signals) => ended,
                () = &mut served => bail!("the server of this conversation has stopped"),
            };
            stop.cancel();
            // The server may still be finishing a reply.
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
        Ok(unanswered) => bail!("messages without an answer: {unanswered}"),
        Err(error) => Err(error),
    }
}

/// Returns whether a server answers at the address.
pub(super) async fn answers(address: &str) -> bool {
    match server::reachable(address).and_then(|address| Client::new(&address, None)) {
        Ok(client) => client.is_up().await,
        Err(_) => false,
    }
}

/// Opens a conversation and runs it. Returns the number of unanswered messages of a pipe.
async fn talk(
    client: &Client,
    args: &Args,
    prompts: Option<&Prompts>,
    screen: &mut Screen,
    signals: &mut Signals,
) -> anyhow::Result<u32> {
    let opened = tokio::select! {
        opened = client.open(args.persona.as_deref(), args.language, args.phone.as_ref()) => opened?,
        _ = signals.next() => return Ok(0),
    };
    // The API returns the persona's id only.
    let persona = prompts.and_then(|prompts| prompts.find_persona(&opened.persona));
    let name = persona.map_or(opened.persona, |persona| persona.name.clone());
    let session = Session { client, conversation: opened.id, name, screen, signals };
    session.run(&opened.greeting.text).await
}

/// Picks the API key: the default tenant's, else the first one.
fn key_of(keys: &[KeyEntry]) -> Option<&str> {
    let own = keys.iter().find(|entry| entry.tenant == TenantId::DEFAULT);
    own.or_else(|| keys.first()).map(|entry| entry.key.as_str())
}

/// Returns whether the reader of the output has closed it, as in `frontdesk chat | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_tenants_key_is_preferred() {
        let key = |tenant: &str, key: &str| KeyEntry { tenant: tenant.to_owned(), key: key.to_owned() };
        assert_eq!(key_of(&[key("a", "1"), key("default", "2")]), Some("2"));
        assert_eq!(key_of(&[key("a", "1"), key("b", "2")]), Some("1"));
        assert_eq!(key_of(&[]), None);
    }
}

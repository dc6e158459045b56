//! The server to talk to: the one that serves this database, or one of our own.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::Url;
use tokio::time::{Instant, sleep};

use super::client::Client;
use crate::app::PartState;
use crate::cli::serve::{self, Preparation, Prepared};
use crate::config::{Config, LlmMode};

/// How long a server that has just taken the database may need until it answers.
const STARTING: Duration = Duration::from_secs(10);

/// Where the conversation takes place.
pub(super) enum Server {
    Elsewhere(String),
    Own(Own),
}

/// A server in this process, for one conversation.
pub(super) struct Own {
    pub prepared: Box<Prepared>,
    model: PartState,
}

impl Server {
    pub fn address(&self) -> &str {
        match self {
            Self::Elsewhere(address) => address,
            Self::Own(own) => &own.prepared.address,
        }
    }
}

impl Own {
    /// What the person should know before they wonder.
    pub fn remark(&self) -> Option<String> {
        let remark = "No language model answers: rules classify, and replies quote the shop's documents.";
        (self.model == PartState::Down).then(|| remark.to_owned())
    }
}

/// The server that serves this database already, or else a new one on a free port of this machine alone.
pub(super) async fn find_or_start(mut config: Config) -> anyhow::Result<Server> {
    config.http.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    config.http.metrics_bind = None;
    let options = serve::store_options(&config);
    match serve::prepare(config).await? {
        Preparation::Ready(prepared) => {
            let model = match prepared.app.config.llm.mode {
                LlmMode::Offline => PartState::Off,
                _ => prepared.app.parts().await.language_model,
            };
            Ok(Server::Own(Own { prepared, model }))
        }
        Preparation::Served { mut at } => {
            let deadline = Instant::now() + STARTING;
            loop {
                if let Some(address) = &at {
                    let address = reachable(address)?;
                    if Client::new(&address, None)?.is_up().await {
                        return Ok(Server::Elsewhere(address));
                    }
                }
                if Instant::now() >= deadline {
                    break;
                }
                sleep(Duration::from_millis(100)).await;
                at = serve::find_server(&options).await;
            }
            let place = at.unwrap_or_else(|| "an address that it has not told".to_owned());
            bail!(
                "another frontdesk serves this database, at {place}, but does not answer from here: stop it, or name the \
                 server to talk to with --url"
            )
        }
    }
}

/// The address as a client uses it: a server that listens on every interface is on this machine, too.
pub(super) fn reachable(address: &str) -> anyhow::Result<String> {
    let mut url = Url::parse(address).with_context(|| format!("{address} is no address of a server"))?;
    let loopback = match url.host_str() {
        Some("0.0.0.0") => Some(Ipv4Addr::LOCALHOST.into()),
        Some("[::]") => Some(Ipv6Addr::LOCALHOST.into()),
        _ => None,
    };
    if let Some(ip) = loopback {
        // Refused for URLs without a host alone.
        let _ = url.set_ip_host(ip);
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_interface_is_reached_on_this_machine() {
        for (said, used) in [
            ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("http://[::]:8080", "http://[::1]:8080"),
            ("http://127.0.0.1:4000", "http://127.0.0.1:4000"),
            ("http://10.0.0.7:80", "http://10.0.0.7"),
        ] {
            assert_eq!(reachable(said).unwrap(), used);
        }
        assert!(reachable("here").is_err());
    }
}

//! Finds the server of this database, or starts a temporary one.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::Url;
use tokio::time::{Instant, sleep};

use super::client::Client;
use crate::app::PartState;
use crate::cli::serve::{self, Preparation, Prepared};
use crate::config::{Config, LlmMode};

/// How long to wait for a server that is starting.
const STARTING: Duration = Duration::from_secs(10);

/// The server of the chat.
pub(super) enum Server {
    Elsewhere(String),
    /// A temporary server in this process, and the state of its language model.
    Own(Box<Prepared>, PartState),
}

impl Server {
    pub fn address(&self) -> &str {
        match self {
            Self::Elsewhere(address) => address,
            Self::Own(prepared, _) => &prepared.address,
        }
    }
}

/// Returns the running server of this database, or starts one on a free loopback port.
pub(super) async fn find_or_start(mut config: Config) -> anyhow::Result<Server> {
    config.http.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    config.http.metrics_bind = None;
    let options = serve::store_options(&config);
    match Box::pin(serve::prepare(config)).await? {
        Preparation::Ready(prepared) => {
            let model = match prepared.app.config.llm.mode {
                LlmMode::Offline => PartState::Off,
                _ => prepared.app.parts().await.language_model,
            };
            Ok(Server::Own(prepared, model))
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
            let place = at.unwrap_or_else(|| "an unknown address".to_owned());
            bail!(
                "another frontdesk serves this database at {place} but does not answer: stop it, or name a server with --url"
            )
        }
    }
}

/// Returns the address that a client uses: loopback for a server that listens on every interface.
pub(super) fn reachable(address: &str) -> anyhow::Result<String> {
    let mut url = Url::parse(address).with_context(|| format!("{address} is not the address of a server"))?;
    let loopback = match url.host_str() {
        Some("0.0.0.0") => Some(Ipv4Addr::LOCALHOST.into()),
        Some("[::]") => Some(Ipv6Addr::LOCALHOST.into()),
        _ => None,
    };
    if let Some(ip) = loopback {
        // Fails only for URLs without a host.
        let _ = url.set_ip_host(ip);
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unspecified_address_is_reached_by_loopback() {
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

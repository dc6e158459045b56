//! Where a request comes from: the connection's address, or, behind proxies that the shop trusts, the one they name.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use ipnet::IpNet;

use super::serve::Peer;
use crate::app::App;

/// The client's address; `None` where the transport has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientAddress(pub Option<IpAddr>);

impl FromRequestParts<Arc<App>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>().map(|info| info.0.0.ip().to_canonical());
        Ok(Self(peer.map(|peer| client(peer, &parts.headers, &app.config.http.trusted_proxies))))
    }
}

/// The nearest address that is no trusted proxy: what stands further left in `X-Forwarded-For` is only claimed.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut client = peer;
    if !is_trusted(&client) {
        return client;
    }
    let named = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let addresses: Vec<&str> = named.flat_map(|line| line.split(',')).map(str::trim).collect();
    for text in addresses.into_iter().rev() {
        let Some(address) = address(text) else { break };
        client = address.to_canonical();
        if !is_trusted(&client) {
            break;
        }
    }
    client
}

/// As proxies write it: alone, in brackets, with a port, or in quotes.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches('"');
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|place| place.ip());
    text.parse().ok().or_else(with_port).or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed_and_only_about_the_one_before_them() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap(), "127.0.0.1/32".parse().unwrap()];
        let of = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            client(peer.parse().unwrap(), &headers, &trusted).to_string()
        };
        assert_eq!(of("203.0.113.9", "1.2.3.4"), "203.0.113.9", "nobody trusted this peer");
        assert_eq!(of("10.0.0.1", "1.2.3.4"), "1.2.3.4");
        assert_eq!(of("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2"), "1.2.3.4", "what is left of it is only claimed");
        assert_eq!(of("10.0.0.1", "rubbish"), "10.0.0.1");
        assert_eq!(of("10.0.0.1", "10.0.0.7"), "10.0.0.7");
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711", "\"[2001:db8::1]\""] {
            assert_eq!(of("127.0.0.1", written), "2001:db8::1", "{written}");
        }
        assert_eq!(of("127.0.0.1", "1.2.3.4:4711"), "1.2.3.4");
    }
}

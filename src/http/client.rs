//! The address of the client: the connection's address, or the one that a trusted proxy reports.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Version};
use ipnet::IpNet;

use super::serve::Peer;
use crate::app::App;

/// The client's address, or `None` if the transport has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClientAddress(pub Option<IpAddr>);

impl FromRequestParts<Arc<App>> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<Peer>>().map(|info| info.0.0.ip().to_canonical());
        Ok(Self(peer.map(|peer| client(peer, &parts.headers, &app.config.http.trusted_proxies))))
    }
}

/// Returns the nearest address that is not a trusted proxy. Addresses further left in `X-Forwarded-For` are only claimed.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer;
    if !is_trusted(trusted, client) {
        return client;
    }
    let named = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let addresses: Vec<&str> = named.flat_map(|line| line.split(',')).map(str::trim).collect();
    for text in addresses.into_iter().rev() {
        let Some(address) = address(text) else { break };
        client = address.to_canonical();
        if !is_trusted(trusted, client) {
            break;
        }
    }
    client
}

pub(super) fn is_trusted(proxies: &[IpNet], address: IpAddr) -> bool {
    proxies.iter().any(|net| net.contains(&address))
}

/// Headers that only proxies add, in addition to those of [`PROXY_PREFIXES`].
const PROXY_HEADERS: [&str; 9] = [
    "forwarded",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-real-ip",
    "true-client-ip",
    "client-ip",
    "cdn-loop",
    "x-request-start",
];
const PROXY_PREFIXES: [&str; 7] = ["x-forwarded", "x-original-", "cf-", "fastly-", "fly-", "x-envoy-", "x-amzn-"];

/// Returns whether a header shows that a proxy passed the request on.
pub(super) fn has_proxy_header(headers: &HeaderMap) -> bool {
    headers
        .keys()
        .map(HeaderName::as_str)
        .any(|name| PROXY_HEADERS.contains(&name) || PROXY_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Returns whether the request came straight from a program on this machine, as far as it shows: nginx, by default, adds no
/// header but speaks HTTP/1.0, which no current client does.
pub(super) fn is_from_this_machine(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<Peer>>();
    let loopback = peer.is_some_and(|info| info.0.0.ip().to_canonical().is_loopback());
    loopback && parts.version >= Version::HTTP_11 && !has_proxy_header(&parts.headers)
}

/// Parses an address as proxies write it: bare, in brackets, with a port or in quotes.
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
    fn only_trusted_proxies_name_the_client() {
        let trusted: Vec<IpNet> = vec!["10.0.0.0/8".parse().unwrap(), "127.0.0.1/32".parse().unwrap()];
        let of = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            client(peer.parse().unwrap(), &headers, &trusted).to_string()
        };
        assert_eq!(of("203.0.113.9", "1.2.3.4"), "203.0.113.9", "the peer is not trusted");
        assert_eq!(of("10.0.0.1", "1.2.3.4"), "1.2.3.4");
        assert_eq!(of("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2"), "1.2.3.4", "addresses further left are only claimed");
        assert_eq!(of("10.0.0.1", "rubbish"), "10.0.0.1");
        assert_eq!(of("10.0.0.1", "10.0.0.7"), "10.0.0.7");
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711", "\"[2001:db8::1]\""] {
            assert_eq!(of("127.0.0.1", written), "2001:db8::1", "{written}");
        }
        assert_eq!(of("127.0.0.1", "1.2.3.4:4711"), "1.2.3.4");
    }
}

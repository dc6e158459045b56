//! Addresses in a word: of pages, and of e-mail.

use std::collections::HashSet;
use std::ops::Range;

use url::Url;

use crate::domain::LinkHost;

/// What may stand behind an address without being part of it.
const TRAILING: &[char] = &['.', ',', ';', ':', '!', '?', ')', '*', '_', '\'', '"', '…', '”', '»', '|', '`', '~', '}'];
/// Schemes that need no host to do harm.
const BARE_SCHEMES: [&str; 5] = ["mailto:", "javascript:", "vbscript:", "data:", "tel:"];

/// The first address in a word.
pub(super) fn find_address(word: &str) -> Option<Range<usize>> {
    let lower = word.to_ascii_lowercase();
    let scheme = lower.find("://").and_then(|at| {
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = lower[..at].trim_end_matches(name).len();
        (start < at).then_some(start)
    });
    let starts_word = |at: &usize| !lower[..*at].ends_with(|c: char| c.is_alphanumeric());
    let www = lower.match_indices("www.").map(|(at, _)| at).find(starts_word);
    let bare = BARE_SCHEMES.iter().filter_map(|scheme| {
        let at = lower.find(scheme).filter(starts_word)?;
        let goes_on = lower[at + scheme.len()..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '+'));
        goes_on.then_some(at)
    });
    let page = [scheme, www].into_iter().flatten().chain(bare).min().map(|start| {
        let end = word[start..].find(['<', '>', '"', '|']).map_or(word.len(), |length| start + length);
        start..start + word[start..end].trim_end_matches(TRAILING).len()
    });
    match (page, find_mail(&lower)) {
        (Some(page), Some(mail)) if mail.start < page.start => Some(mail),
        (Some(page), _) => Some(page),
        (None, mail) => mail,
    }
}

/// The first `name@host.top` of a text in lower case.
fn find_mail(lower: &str) -> Option<Range<usize>> {
    lower.match_indices('@').map(|(at, _)| at).find_map(|at| {
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-');
        let start = lower[..at].trim_end_matches(name).len();
        let host = lower[at + 1..].split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-')).next()?;
        let host = host.trim_end_matches(['.', '-']);
        (start < at && host.contains('.')).then_some(start..at + 1 + host.len())
    })
}

/// All e-mail addresses of a text, in lower case.
pub(in super::super) fn addresses(text: &str) -> HashSet<String> {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '(' | ')' | ',' | ';'));
    words.filter_map(|word| find_mail(word).map(|place| word[place].to_owned())).collect()
}

/// Whether the address is a page of one of the hosts.
pub(super) fn is_allowed(address: &str, hosts: &[LinkHost]) -> bool {
    let address = if address.to_ascii_lowercase().starts_with("www.") {
        format!("https://{address}")
    } else {
        address.to_owned()
    };
    let Ok(url) = Url::parse(&address) else { return false };
    let plain = url.username().is_empty() && url.password().is_none();
    // What the parser had to mend (backslashes, spaces) may be read otherwise by somebody else.
    let as_written = !address.contains(['\\', '\t', '\n', ' ']);
    let host = url.host_str().is_some_and(|host| hosts.iter().any(|good| good.covers(host)));
    matches!(url.scheme(), "http" | "https") && plain && as_written && host
}

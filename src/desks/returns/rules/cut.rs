//! Replaces addresses and numbers in a message by placeholder words, so that patterns do not match inside them:
//! *huy.do@example.com* is not *do*.

use std::collections::HashSet;

use crate::domain::commerce::OrderNumber;
use crate::domain::returns::{RmaNumber, TicketNumber};
use crate::nlu::entities::candidate::{Candidate, candidates};

/// Replaces an order number. The rule file lists it among the goods; no customer types it.
pub(super) const ORDER: &str = "order0";
/// Replaces an e-mail address.
const MAIL: &str = "mail0";
/// Replaces the number of a return or a ticket.
const RETURN: &str = "rma0";

/// Returns the first number of a return or a ticket in the text.
pub(super) fn shop_number(text: &str) -> Option<OrderNumber> {
    let mut candidates = text.split_whitespace().flat_map(candidates);
    candidates.find_map(|Candidate { run, .. }| {
        let is_own = run.parse::<RmaNumber>().is_ok() || run.parse::<TicketNumber>().is_ok();
        run.parse().ok().filter(|_| is_own)
    })
}

/// The beginnings of the shop's own numbers.
const OWN_NUMBERS: [&str; 2] = ["rma-", "ticket-"];

/// Returns the text with a placeholder for each address, order number and return number.
pub(super) fn cut(text: &str, orders: &[OrderNumber]) -> String {
    let orders: HashSet<&str> = orders.iter().map(OrderNumber::as_str).collect();
    let mut cut = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if word.contains('@') {
            if word.starts_with('@') {
                // "john.doe @example.com": the name before it belongs to it.
                let name = cut.trim_end().rfind(char::is_whitespace).map_or(0, |space| space + 1);
                cut.truncate(name);
            }
            push_placeholder(&mut cut, word, MAIL);
        } else if OWN_NUMBERS.iter().any(|prefix| is_own_number(word, prefix)) {
            push_placeholder(&mut cut, word, RETURN);
        } else {
            cut.push_str(&without_orders(word, &orders));
        }
        cut.push_str(&piece[word.len()..]);
    }
    // A dash between words ends a part of the sentence as a comma does.
    cut.replace(" - ", ", ").replace(['–', '—'], ", ")
}

/// Returns the text without placeholders.
pub(super) fn without_placeholders(cut: &str) -> String {
    [ORDER, MAIL, RETURN].iter().fold(cut.to_owned(), |text, placeholder| text.replace(placeholder, " "))
}

/// Appends the placeholder of a word, with the punctuation around it.
fn push_placeholder(cut: &mut String, word: &str, placeholder: &str) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let start = word.find(bare).unwrap_or(0);
    cut.push_str(word[..start].trim_end_matches('@'));
    cut.push_str(placeholder);
    cut.push_str(&word[start + bare.len()..]);
}

fn is_own_number(word: &str, prefix: &str) -> bool {
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (Some(start), Some(rest)) = (bare.get(..prefix.len()), bare.get(prefix.len()..)) else { return false };
    start.eq_ignore_ascii_case(prefix) && rest.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the word with each order number as a separate placeholder: *đơn77893* becomes two words.
fn without_orders(word: &str, orders: &HashSet<&str>) -> String {
    let mut kept = String::with_capacity(word.len());
    let mut at = 0;
    for Candidate { before, run, .. } in candidates(word) {
        if !orders.contains(run.to_ascii_uppercase().as_str()) {
            continue;
        }
        kept.push_str(word[at..before.len()].trim_end_matches('#'));
        if kept.ends_with(char::is_alphanumeric) {
            kept.push(' ');
        }
        kept.push_str(ORDER);
        at = before.len() + run.len();
        if word[at..].starts_with(char::is_alphanumeric) {
            kept.push(' ');
        }
    }
    kept + &word[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_numbers_are_one_word_each() {
        let orders: Vec<OrderNumber> =
            ["77893", "ABC-100004"].iter().map(|number| number.parse().expect("a number")).collect();
        for (text, expected) in [
            ("huy.do@example.com", "mail0"),
            ("mail <dung.nguyen@example.com>, huy", "mail <mail0>, huy"),
            ("it's stop.it@example.com.", "it's mail0."),
            ("john.doe @example.com please", "mail0 please"),
            ("bob@a.example/bob@b.example", "mail0"),
            ("where is 77893?", "where is order0?"),
            ("đơn77893 tới đâu", "đơn order0 tới đâu"),
            ("#77893", "order0"),
            ("track abc-100004, please", "track order0, please"),
            ("77893 and 177893", "order0 and 177893"),
            ("RMA-1701234567-ABCD đâu rồi", "rma0 đâu rồi"),
            ("my rma - where is it", "my rma, where is it"),
            ("Ẻ@", "mail0@"),
            ("", ""),
        ] {
            assert_eq!(cut(text, &orders), expected, "{text:?}");
        }
        assert_eq!(without_placeholders("đơn order0 của mail0").split_whitespace().collect::<Vec<_>>(), ["đơn", "của"]);
    }
}

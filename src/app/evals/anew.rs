//! What is made anew whenever an answer is given again: numbers of RMAs, tickets and mails, tracking numbers, links to labels.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use regex::Regex;

use crate::domain::returns::{MailNumber, RmaNumber, TicketNumber, TrackingNumber};

/// A link's own part, behind the shop's address; or a word that may be a number.
#[expect(clippy::expect_used, reason = "the pattern is a constant, and the tests compile it")]
static PLACES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"/labels/[A-Za-z0-9_-]+\?signature=[A-Za-z0-9_-]+|[A-Za-z]+(?:-[A-Za-z0-9]+)+")
        .expect("a constant pattern")
});

/// The text with what was made in a turn that began at `asked_at` called by its kind and its place: the same number twice has
/// the same name. What was there before the turn stays as it is.
pub(super) fn without_what_is_made_anew(text: &str, asked_at: DateTime<Utc>) -> String {
    let mut seen: Vec<String> = Vec::new();
    let name = |found: &regex::Captures<'_>| {
        let written = found[0].to_owned();
        let Some(kind) = made_anew(&written, asked_at) else { return written };
        let place = seen.iter().position(|earlier| *earlier == written).unwrap_or_else(|| {
            seen.push(written);
            seen.len() - 1
        });
        format!("<{kind} {place}>")
    };
    PLACES.replace_all(text, name).into_owned()
}

/// What it is, if it was made then: whole seconds are in the numbers.
fn made_anew(written: &str, asked_at: DateTime<Utc>) -> Option<&'static str> {
    let since = asked_at.timestamp();
    if written.starts_with("/labels/") {
        return Some("label");
    }
    if written.parse::<TrackingNumber>().is_ok() {
        return Some("tracking");
    }
    if let Ok(number) = written.parse::<RmaNumber>() {
        return (number.made_at() >= since).then_some("rma");
    }
    if let Ok(number) = written.parse::<TicketNumber>() {
        return (number.made_at() >= since).then_some("ticket");
    }
    let mail = written.parse::<MailNumber>().ok()?;
    (mail.made_at() >= since).then_some("mail")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second 1,701,234,567.
    fn asked_at() -> DateTime<Utc> {
        "2023-11-29T05:09:27.5Z".parse().expect("a time")
    }

    #[test]
    fn what_a_turn_makes_is_named_by_kind_and_place_and_nothing_else_is() {
        for (text, expected) in [
            ("Your return is RMA-1701234567-ABCD.", "Your return is <rma 0>."),
            ("(RMA-1701234599-AB1D)", "(<rma 0>)"),
            ("RMA-1701234566-ABCD was there before", "RMA-1701234566-ABCD was there before"),
            ("ticket TICKET-1701234567-0A1B2C3D, MSG-1701234568-0A1B2C3D", "ticket <ticket 0>, <mail 1>"),
            ("RMA-1701234567-ABCD, RMA-1701234567-WXYZ, RMA-1701234567-ABCD", "<rma 0>, <rma 1>, <rma 0>"),
            ("by FEDEX-123456789012 or DHL-123456789012", "by <tracking 0> or DHL-123456789012"),
            (
                "[label](https://shop.example/labels/YWNt_Z-Q?signature=aB-1_c) or /labels/about",
                "[label](https://shop.example<label 0>) or /labels/about",
            ),
            ("order ABC-123456, 77893, 30-day, e-mail", "order ABC-123456, 77893, 30-day, e-mail"),
            ("Mã RMA-1701234567-ABCD ạ", "Mã <rma 0> ạ"),
        ] {
            assert_eq!(without_what_is_made_anew(text, asked_at()), expected);
        }
    }
}

//! Numbers that look like a phone number in any text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::candidate::groups;
use crate::domain::identity::Phone;
use crate::domain::text::constant_regex;

/// Replaces such a number, so that no other number continues across it.
const GONE: &str = " , ";

/// Numbers in groups that only phone numbers have: with the area code in parentheses ("(415) 555-0123"), or as North Americans write
/// them with spaces or points. Their groups alone would look like numbers of orders.
const GROUPED: &str = r"(?:(?:\+|\b)\d{1,3}[ .\u{a0}-]?)?(?:\(\+?\d{1,5}\)[ .\u{a0}-]?\d{2,8}\b(?:[ .\u{a0}-]\d{2,4}\b){0,3}|\b\d{3}[ .]\d{3}[ .-]\d{4})\b";

static NUMBER: LazyLock<Regex> = LazyLock::new(|| constant_regex(GROUPED));

/// The phone numbers in such groups, with their places.
pub(super) fn grouped(text: &str) -> Vec<(Range<usize>, Phone)> {
    let found = NUMBER.find_iter(text);
    found.filter_map(|found| Some((found.range(), found.as_str().parse().ok()?))).collect()
}

/// The text without them.
pub(super) fn without_grouped(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for (place, _) in grouped(text) {
        rest.push_str(&text[at..place.start]);
        rest.push_str(GONE);
        at = place.end;
    }
    rest + &text[at..]
}

/// Whether the run alone looks like a phone number.
pub(super) fn is_phone(run: &str) -> bool {
    let Some(groups) = groups(run) else { return false };
    let digits: usize = groups.iter().sum();
    match groups.as_slice() {
        // North American, with and without the country.
        [3, 3, 4] | [1, 3, 3, 4] => true,
        // A leading zero, or Vietnam's country code.
        _ => (run.starts_with('0') && (9..=12).contains(&digits)) || (run.starts_with("84") && digits == 11),
    }
}

/// The most digits of a phone number with its country. What follows them is another number.
const MAX_PHONE_DIGITS: usize = 13;

/// Whether the run is a group of a phone number in groups, as in "0912 34567 8" and "+84 912345678".
pub(super) fn is_in_groups(tokens: &[&str], at: usize) -> bool {
    let digits_of = |token: &str| {
        let digits = token.strip_prefix('+').unwrap_or(token).trim_end_matches(['.', ',']);
        let is_group = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        is_group.then_some(digits.len())
    };
    let groups_before = (0..=at).rev().take(MAX_PHONE_DIGITS).take_while(|at| digits_of(tokens[*at]).is_some());
    groups_before.filter(|first| tokens[*first].starts_with(['0', '+'])).any(|first| {
        let (mut digits, mut end) = (0, first);
        for count in tokens[first..].iter().map_while(|token| digits_of(token)) {
            if digits + count > MAX_PHONE_DIGITS {
                break;
            }
            (digits, end) = (digits + count, end + 1);
        }
        end - first > 1 && at < end && digits >= 9
    })
}

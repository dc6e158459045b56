//! E-mail addresses and phone numbers in a text, told apart from numbers of orders and parcels and from dates.

use std::collections::HashSet;

use super::candidate::{candidates, is_day as is_day_in_a_row};
use super::phone::{grouped, is_phone, without_grouped};
use crate::domain::commerce::OrderNumber;
use crate::domain::identity::Contact;

/// Returns the e-mail addresses in a message, then its phone numbers, each in order. `orders` are the order numbers in it: like
/// dates and other numbers of the shop, they are not part of a phone number.
pub fn find_contacts(text: &str, orders: &[OrderNumber]) -> Vec<Contact> {
    let orders: HashSet<&str> = orders.iter().map(OrderNumber::as_str).collect();
    let mut found = Vec::new();
    let mut rest = String::new();
    for token in without_grouped(text).split_whitespace() {
        // "email:an@example.com,0912345678"
        let has_email = token.contains('@');
        for piece in token.split(|c: char| has_email && LABEL_ENDS.contains(c)) {
            let bare = piece.trim_matches(|c: char| !c.is_alphanumeric() && c != '+');
            match bare.contains('@') {
                true => found.extend(bare.parse().ok().map(Contact::Email)),
                false => rest.push_str(&without_other_numbers(&without_dates(piece), &orders)),
            }
            rest.push(if has_email { APART } else { ' ' });
        }
    }
    found.extend(grouped(text).into_iter().map(|(_, phone)| Contact::Phone(phone)));
    // Runs of digits and of the characters between the groups of a phone number.
    for run in rest.split(|c: char| !(c.is_ascii_digit() || " +.-()".contains(c))) {
        if let Ok(phone) = run.trim_matches(|c: char| !c.is_ascii_digit() && c != '+').parse() {
            found.push(Contact::Phone(phone));
        }
    }
    found
}

/// Separates the parts of a text that no phone number spans.
const APART: char = '\n';
/// Stand between an e-mail address and what is written next to it without a space.
const LABEL_ENDS: &str = ":,;=<>|";
/// A number of so many digits that begins with a zero is complete without the next group.
const WHOLE: std::ops::RangeInclusive<usize> = 10..=11;

/// Returns the token without its order numbers and without the shop's other numbers (`RMA-1701234567-ABCD`). It separates a
/// complete phone number, and anything that begins with a plus, from the rest.
fn without_other_numbers(token: &str, orders: &HashSet<&str>) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for candidate in candidates(token) {
        let (start, run) = (candidate.before.len(), candidate.run);
        kept.push_str(&token[at..start]);
        at = start + run.len();
        let is_whole = run.split('-').any(|part| part.starts_with('0') && WHOLE.contains(&part.len()));
        let has_letters = run.contains('-') && run.contains(|c: char| c.is_ascii_alphabetic());
        if orders.contains(run.to_ascii_uppercase().as_str()) || (has_letters && !is_whole) {
            kept.push(APART);
        } else if is_whole || (is_phone(run) && !kept.ends_with('+')) {
            kept.extend([APART].into_iter().chain(run.chars()).chain([APART]));
        } else {
            kept.push_str(run);
        }
    }
    kept.push_str(&token[at..]);
    kept.replace('+', "\n+")
}

fn without_dates(token: &str) -> String {
    let is_part = |c: char| c.is_ascii_digit() || "-./".contains(c);
    let mut kept = String::new();
    let mut rest = token;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        kept.push_str(&rest[..start]);
        match &rest[start..end] {
            part if is_date(part.trim_matches(|c: char| !c.is_ascii_digit())) => kept.push(APART),
            part if is_amount(part) && !kept.ends_with('+') => kept.push(APART),
            part => kept.push_str(part),
        }
        rest = &rest[end..];
    }
    kept + rest
}

/// `1.290.000`: thousands in groups, which no phone number has.
fn is_amount(text: &str) -> bool {
    let mut groups = text.trim_end_matches('.').split('.');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && rest.last().is_some_and(|last| last.ends_with("00"))
        && rest.iter().all(|group| group.len() == 3)
}

/// `2026-11-05`, `05/11/2026`, `5.11.26`, `2025-2026`, `20261105`: numbers that a day, a month and a year of our time can have.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '.', '/']).collect();
    let is_in = |part: &str, range: std::ops::RangeInclusive<u32>| part.parse().is_ok_and(|n| range.contains(&n));
    let is_day = |part: &str| part.len() <= 2 && is_in(part, 1..=31);
    let is_year = |part: &str| part.len() == 4 && is_in(part, 1990..=2100);
    match parts.as_slice() {
        [a, b, c] if is_day(b) => (is_day(a) && (is_year(c) || c.len() == 2)) || (is_year(a) && is_day(c)),
        [a, b] => is_year(a) && is_year(b),
        [day] => is_day_in_a_row(day),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nlu::entities::find_order_numbers;
    use crate::nlu::entities::order_number::tests::words;

    fn orders_in(text: &str) -> Vec<OrderNumber> {
        find_order_numbers(text, &words()).into_iter().map(|found| found.number).collect()
    }

    #[test]
    fn contacts_are_found_in_messages() {
        let shown = |text: &str| -> Vec<String> {
            find_contacts(text, &orders_in(text)).iter().map(|contact| contact.as_str().to_owned()).collect()
        };
        for (text, expected) in [
            ("it's John.Doe@example.com.", vec!["john.doe@example.com"]),
            ("mail <buyer-77894@example.com>, phone 0912 345 678", vec!["buyer-77894@example.com", "0912345678"]),
            ("sđt 091.234.5678 nhé", vec!["0912345678"]),
            ("call +84 (0)912 345 678", vec!["+840912345678"]),
            ("số của mình là 0912345678", vec!["0912345678"]),
            ("zalo: tel-0912345678", vec!["0912345678"]),
            ("my number is 9123-4567", vec!["91234567"]),
            ("0912345678 0987654321", vec!["0912345678", "0987654321"]),
            ("đặt 2026-11-05, sđt 0912345678", vec!["0912345678"]),
            ("order 77893", vec![]),
            ("(415) 555-0123", vec!["4155550123"]),
            ("+1 (415) 555-0123", vec!["+14155550123"]),
            ("it's 1 (415) 555 0123.", vec!["14155550123"]),
            ("415.555.0123 or jane@example.com", vec!["jane@example.com", "4155550123"]),
            ("(028) 38221234", vec!["02838221234"]),
            ("đơn 77893, email:huy19951234@gmail.com", vec!["huy19951234@gmail.com"]),
            ("an@example.com,0912345678", vec!["an@example.com", "0912345678"]),
            ("email=an@example.com", vec!["an@example.com"]),
            ("an19951234@example", vec![]),
            ("where is order 88001? 912345678", vec!["912345678"]),
            ("bought on 20261103", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn order_numbers_and_dates_are_no_phones() {
        for (text, numbers, phones) in [
            ("order 20261105", vec!["20261105"], vec![]),
            ("bought 05-11-2026, order 77893", vec!["77893"], vec![]),
            ("mua 15.11.2026 đơn 77893", vec!["77893"], vec![]),
            ("order 77893 from 2026-11-05 10:30", vec!["77893"], vec![]),
            ("order 77893 77894", vec!["77893", "77894"], vec![]),
            ("return order ABC-12345678", vec!["ABC-12345678"], vec![]),
            ("0912345678 77893", vec!["77893"], vec!["0912345678"]),
            ("0912345678, 77893", vec!["77893"], vec!["0912345678"]),
            ("77893 0912345678", vec!["77893"], vec!["0912345678"]),
            ("0912 345 678 77893", vec!["77893"], vec!["0912345678"]),
            ("đơn ABC-123456 0912345678", vec!["ABC-123456"], vec!["0912345678"]),
            ("77893 +84 912 345 678", vec!["77893"], vec!["+84912345678"]),
            ("77893 +84 912345678", vec!["77893"], vec!["+84912345678"]),
            ("+84912345678 77893", vec!["77893"], vec!["+84912345678"]),
            ("(415) 555-0123, 88004", vec!["88004"], vec!["4155550123"]),
            ("88004 +1 (415) 555-0123", vec!["88004"], vec!["+14155550123"]),
            ("415 555-0123 88004", vec!["88004"], vec!["4155550123"]),
            ("my RMA-1701234567-ABCD, FEDEX-123456789012", vec![], vec![]),
        ] {
            let orders = orders_in(text);
            let found: Vec<_> =
                find_contacts(text, &orders).iter().map(|contact| contact.as_str().to_owned()).collect();
            let orders: Vec<&str> = orders.iter().map(OrderNumber::as_str).collect();
            assert_eq!((orders, found), (numbers, phones.into_iter().map(str::to_owned).collect()), "{text:?}");
        }
    }

    #[test]
    fn amount_is_no_phone_number() {
        assert_eq!(find_contacts("sao trừ 1.290.000 2 lần", &[]), []);
        assert_eq!(find_contacts("gọi 091.234.5678", &[]).len(), 1);
    }
}

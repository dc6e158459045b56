//! Finds the words of a message that may be serial numbers: runs of allowed characters that are nothing else.

use std::borrow::Cow;
use std::ops::Range;

use super::likeness::is_phone;
use super::{find_serials, is_serial_byte};

/// A run of a message that could be a serial number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// As it was written; the digits alone where a telephone number was written in groups.
    pub text: Cow<'a, str>,
    /// Its bytes in the message.
    pub span: Range<usize>,
}

/// Every candidate of the message in order. A telephone number in groups ("0912 345 678") is one, and an e-mail address is none.
pub fn find_candidates(message: &str) -> Vec<Candidate<'_>> {
    let phones = phones_in_groups(message);
    let addresses = addresses(message);
    let mut candidates: Vec<Candidate<'_>> = find_serials(message)
        .into_iter()
        .map(|run| {
            let start = run.as_ptr().addr() - message.as_ptr().addr();
            Candidate { text: Cow::Borrowed(run), span: start..start + run.len() }
        })
        .filter(|run| !overlaps_any(&phones, &run.span) && !overlaps_any(&addresses, &run.span))
        .collect();
    candidates.extend(phones.into_iter().map(|span| {
        let digits: String = message[span.clone()].chars().filter(char::is_ascii_digit).collect();
        Candidate { text: Cow::Owned(digits), span }
    }));
    candidates.sort_by_key(|candidate| candidate.span.start);
    candidates
}

/// Whether one of the places, which are in order and apart, shares anything with this one.
fn overlaps_any(places: &[Range<usize>], place: &Range<usize>) -> bool {
    let next = places.partition_point(|other| other.end <= place.start);
    places.get(next).is_some_and(|other| other.start < place.end)
}

/// So many groups of digits make a telephone number at most: "+84 (0) 91 234 56 78".
const MOST_GROUPS: usize = 7;

/// Groups of digits that are a telephone number together; without spaces it is one run already.
fn phones_in_groups(message: &str) -> Vec<Range<usize>> {
    let groups = digit_groups(message);
    let mut phones: Vec<Range<usize>> = Vec::new();
    let mut first = 0;
    while first < groups.len() {
        let joined = (first + 1..groups.len().min(first + MOST_GROUPS))
            .take_while(|last| joins(&message[groups[last - 1].end..groups[*last].start]))
            .filter(|last| {
                let digits: String = groups[first..=*last].iter().map(|group| &message[group.clone()]).collect();
                is_phone(&digits)
            })
            .last();
        match joined {
            Some(last) => {
                let span = groups[first].start..groups[last].end;
                if message[span.clone()].bytes().any(|b| !is_serial_byte(b)) {
                    phones.push(span);
                }
                first = last + 1;
            }
            None => first += 1,
        }
    }
    phones
}

/// Runs of digits that touch no letter.
fn digit_groups(message: &str) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (at, c) in message.char_indices().chain([(message.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(begun)) => {
                if message[begun..at].bytes().all(|b| b.is_ascii_digit()) {
                    groups.push(begun..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    groups
}

/// What stands between the groups of one telephone number.
fn joins(between: &str) -> bool {
    matches!(between, " " | "." | "-" | ") " | " (" | ")" | " - " | "(")
}

/// E-mail addresses: words with something on either side of an `@`.
fn addresses(message: &str) -> Vec<Range<usize>> {
    let start_of = |word: &str| word.as_ptr().addr() - message.as_ptr().addr();
    message
        .split(|c: char| c.is_whitespace() || ",;:()<>".contains(c))
        .filter(|word| word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')))
        .map(|word| start_of(word)..start_of(word) + word.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_phone_is_one_candidate_email_none() {
        for (message, expected) in [
            ("0912 345 678", "0912345678"),
            ("sđt 0912.345.678 nhé", "0912345678"),
            ("+84 912 345 678", "84912345678"),
            ("(028) 3812 3456", "02838123456"),
            ("gọi 0912-345 678 hoặc ABC123", "0912345678|ABC123"),
            ("0912-345-678", "0912-345-678"),
            ("0912345678", "0912345678"),
            ("hotline 1900 636 979", "1900636979"),
            ("2 máy 123456 và 789012", "123456|789012"),
            ("serial 123456 789012", "123456|789012"),
            ("giá 1.890.000, mua 22/10/2021", "890|000|2021"),
            ("mã 0912, 345 678", "0912|345|678"),
            ("nam1995@gmail.com, serial 9GAK7B0", "9GAK7B0"),
            ("a.b2000.c@shop.vn", ""),
            ("@ABC123 và XYZ789@", "ABC123|XYZ789"),
            ("5CD123 0912 345 678 PF3K9L22", "5CD123|0912345678|PF3K9L22"),
        ] {
            let found: Vec<Cow<'_, str>> = find_candidates(message).into_iter().map(|found| found.text).collect();
            assert_eq!(found.join("|"), expected, "{message:?}");
        }
    }

    #[test]
    fn a_candidate_stands_where_its_span_says() {
        let message = "máy đó: 0912 345 678 / ABC123";
        let spans: Vec<&str> = find_candidates(message).into_iter().map(|found| &message[found.span]).collect();
        assert_eq!(spans, ["0912 345 678", "ABC123"]);
    }
}

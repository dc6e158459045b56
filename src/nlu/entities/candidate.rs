//! The parts of a text that may be a number of something, and their form.

use crate::domain::commerce::OrderNumber;

/// A run of letters, digits and hyphens within a token, with the text around it.
pub struct Candidate<'a> {
    pub before: &'a str,
    pub run: &'a str,
    pub after: &'a str,
}

/// The candidates of a token, in order.
pub fn candidates(token: &str) -> impl Iterator<Item = Candidate<'_>> {
    let is_run = |c: char| u8::try_from(c).is_ok_and(OrderNumber::is_byte);
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + token.get(at..)?.find(is_run)?;
        let end = token[start..].find(|c| !is_run(c)).map_or(token.len(), |length| start + length);
        at = end;
        // "đơn77893": the number begins after the word that it is joined to.
        let run = &token[start..end];
        let glued = token[..start].ends_with(char::is_alphabetic);
        let skip = if glued { run.find(|c: char| c.is_ascii_digit()).unwrap_or(run.len()) } else { 0 };
        let (lead, run) = run.split_at(skip);
        let lead = lead.len() + run.len() - run.trim_start_matches('-').len();
        let run = run.trim_matches('-');
        Some(Candidate { before: &token[..start + lead], run, after: &token[start + lead + run.len()..] })
    })
}

/// Whether a text begins with the decimals of an amount, such as `.99` and `,000`.
pub(super) fn is_decimal(after: &str) -> bool {
    let mut letters = after.chars();
    matches!(letters.next(), Some('.' | ',')) && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// Whether a text before a number ends in a decimal point.
pub(super) fn is_fraction(before: &str) -> bool {
    let mut letters = before.chars().rev();
    matches!(letters.next(), Some('.' | ',')) && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// The lengths of the groups of digits, if there is nothing else but hyphens.
pub(super) fn groups(run: &str) -> Option<Vec<usize>> {
    let digits_only = run.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    digits_only.then(|| run.split('-').map(str::len).collect())
}

/// Whether the run is a day, such as `20261103` or `03112026`.
pub(super) fn is_day(run: &str) -> bool {
    let number = |range: std::ops::Range<usize>| run.get(range).and_then(|part| part.parse::<u32>().ok());
    let is_day = |year: Option<u32>, month: Option<u32>, day: Option<u32>| {
        year.is_some_and(|year| (1990..=2100).contains(&year))
            && month.is_some_and(|month| (1..=12).contains(&month))
            && day.is_some_and(|day| (1..=31).contains(&day))
    };
    let is_eight = run.len() == 8 && run.bytes().all(|byte| byte.is_ascii_digit());
    is_eight && (is_day(number(0..4), number(4..6), number(6..8)) || is_day(number(4..8), number(2..4), number(0..2)))
}

pub(super) fn is_date(run: &str) -> bool {
    matches!(groups(run).as_deref(), Some([4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4] | [1 | 2, 1 | 2] | [4, 4]))
}

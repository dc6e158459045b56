//! Telephone numbers in messages, as Kenyans write them.

use crate::domain::identity::e164::E164;

/// Kenya's country code, for numbers that are written without one.
const COUNTRY: &str = "+254";
/// Digits of a Kenyan number after its country code.
const LOCAL_DIGITS: usize = 9;
/// The fewest digits of an international number.
const SHORTEST: usize = 10;
/// The most characters of a number with its spaces and signs. A longer run of digits would cost its length to the third power.
const LONGEST: usize = 32;

/// Returns the first telephone number of a message, and the message without it, so that its digits count as nothing else.
pub fn cut(text: &str) -> (Option<E164>, String) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b' ' | b'-' | b'(' | b')');
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit() || c == '+').map(|found| at + found) {
        let run = start + text[start..].bytes().take(LONGEST).take_while(is_part).count();
        // "2 pairs" and "size 40, 0712 345 678": numbers before and after it are not part of it.
        if let Some((phone, end)) = ends(text, start, run).find_map(|end| Some((parse(&text[start..end])?, end)))
            && !text[..start].ends_with(char::is_alphanumeric)
            && !text[end..].starts_with(char::is_alphanumeric)
        {
            return (
                Some(phone),
                format!("{} {}", text[..start].trim_end(), text[end..].trim_start()).trim().to_owned(),
            );
        }
        let digits = |c: char| !c.is_ascii_digit() && c != '+';
        at = text[start..].find(digits).map_or(text.len(), |end| start + end);
    }
    (None, text.to_owned())
}

/// Returns the places where a number may end, the longest first.
fn ends(text: &str, start: usize, run: usize) -> impl Iterator<Item = usize> {
    let mut ends: Vec<usize> = (start + 1..=run).filter(|end| text.as_bytes()[end - 1].is_ascii_digit()).collect();
    ends.retain(|end| !text[*end..].starts_with(|c: char| c.is_ascii_digit()));
    ends.into_iter().rev()
}

fn parse(text: &str) -> Option<E164> {
    let written: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    if written.starts_with('+') {
        return written.parse().ok().filter(|_| written.len() > SHORTEST);
    }
    let local = written.strip_prefix('0').or_else(|| written.strip_prefix("254")).unwrap_or(&written);
    let is_mobile = local.len() == LOCAL_DIGITS && local.starts_with(['7', '1']);
    is_mobile.then(|| format!("{COUNTRY}{local}").parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_is_cut_out_of_the_message() {
        for (text, phone, rest) in [
            ("0712345678", Some("+254712345678"), ""),
            ("my number is 0712 345 678", Some("+254712345678"), "my number is"),
            ("2 pairs, mpesa 0712-345-678 please", Some("+254712345678"), "2 pairs, mpesa please"),
            ("+254712345678", Some("+254712345678"), ""),
            ("254 712 345 678", Some("+254712345678"), ""),
            ("712345678", Some("+254712345678"), ""),
            ("pay 2500", None, "pay 2500"),
            ("size 40 black", None, "size 40 black"),
            ("K48213", None, "K48213"),
            ("SGH0712345678", None, "SGH0712345678"),
            ("", None, ""),
        ] {
            let (found, left) = cut(text);
            assert_eq!((found.as_ref().map(E164::as_str), left.as_str()), (phone, rest), "{text:?}");
        }
    }
}

//! Tells a serial number from the other things that its rule allows: "1TB", "RTX4060", "2024", "0912345678".

use std::collections::HashSet;

use serde::Deserialize;

/// How much a candidate looks like the serial number of a product, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// A year or a date: `2024`, `12-3-2024`.
    Date,
    /// A quantity or the name of a model: `1TB`, `144Hz`, `i5-12400F`, `RTX4060`.
    Model,
    /// A Vietnamese telephone number.
    Phone,
    /// Any other number.
    Number,
    /// Letters and digits mixed.
    Serial,
}

/// The letters next to a number that is no serial number: `rules/serials.toml` and `rules/serials.LANG.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SerialWords {
    /// What follows a number when it counts something.
    units: HashSet<String>,
    /// Those of them that count money, whose numbers are long and end with three zeros.
    price_units: HashSet<String>,
    /// Letters that, before a number, name a product line rather than a piece.
    families: HashSet<String>,
    /// What ends the number of a processor or a graphics card: `12400F`, `7800X3D`, `4060Ti`.
    chip_endings: HashSet<String>,
}

impl SerialWords {
    pub fn likeness(&self, candidate: &str) -> Likeness {
        let lower = candidate.to_ascii_lowercase();
        if lower.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            number(&lower)
        } else if self.is_quantity(&lower) || self.is_model(&lower) {
            Likeness::Model
        } else {
            Likeness::Serial
        }
    }

    /// `1tb`, `20-25tr`, `8h30`, `1tr5`, `2x8gb`.
    fn is_quantity(&self, lower: &str) -> bool {
        let (mut units, mut longest) = (0, 9);
        let mut rest = lower;
        while !rest.is_empty() {
            let (digits, after) = leading(rest, |b| b.is_ascii_digit());
            let (letters, after) = leading(after, |b| b.is_ascii_alphabetic());
            let is_price = self.price_units.contains(letters) && digits.ends_with("000");
            longest = if is_price { 12 } else { longest };
            let is_unit = letters.is_empty() || self.units.contains(letters) || self.price_units.contains(letters);
            if digits.is_empty() || (digits.len() > 5 && !is_price) || !is_unit {
                return false;
            }
            units += usize::from(!letters.is_empty());
            rest = after.strip_prefix('-').unwrap_or(after);
        }
        // More than two numbers with units in one word is a code that happens to be made of such letters.
        (1..=2).contains(&units) && lower.len() <= longest
    }

    fn is_model(&self, lower: &str) -> bool {
        let head = lower.split('-').next().unwrap_or(lower);
        let (letters, after) = leading(head, |b| b.is_ascii_alphabetic());
        let (digits, ending) = leading(after, |b| b.is_ascii_digit());
        let is_chip_ending = self.chip_endings.contains(ending);
        let ending_fits = ending.is_empty() || is_chip_ending;
        let family = self.families.contains(letters) && digits.len() <= 5 && ending_fits;
        let chipset = letters.len() == 1 && digits.len() == 3 && ending.len() <= 1;
        let short_name = head.len() == lower.len() && letters.len() == 1 && digits.len() <= 3 && ending.is_empty();
        let chip = letters.is_empty() && (3..=5).contains(&digits.len()) && is_chip_ending;
        family || chipset || short_name || chip
    }
}

/// A word of a message that may be a serial number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleSerial {
    pub text: String,
    /// What it looks like by itself.
    pub looks: Likeness,
    pub known: Option<KnownWord>,
}

/// Why a word is probably not a serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownWord {
    /// The catalogue contains it.
    Goods,
    /// The customer calls it the number of something else, such as an invoice.
    Named,
}

impl PossibleSerial {
    /// Returns how likely it is a serial number. A known word is looked up like a model, but never reported as missing.
    pub fn likeness(&self) -> Likeness {
        if self.known.is_some() { Likeness::Model } else { self.looks }
    }

    /// Whether it counts as a failed attempt if the records do not have it.
    pub fn is_attempt(&self) -> bool {
        self.known != Some(KnownWord::Goods) && self.looks >= Likeness::Phone
    }
}

/// Returns the one to name if none is in the records: letters and digits before plain numbers, longer before shorter, the first of
/// equals.
pub fn most_serial_like<'a>(
    serials: impl DoubleEndedIterator<Item = &'a PossibleSerial>,
) -> Option<&'a PossibleSerial> {
    // `max_by_key` keeps the last of equals, hence the reversal.
    serials.rev().max_by_key(|serial| (serial.looks, serial.text.len()))
}

fn number(digits: &str) -> Likeness {
    let parts: Vec<&str> = digits.split('-').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [one] if one.len() == 4 && (one.starts_with("19") || one.starts_with("20")) => Likeness::Date,
        [one] if is_phone(one) => Likeness::Phone,
        [a, b, c] if a.len() <= 2 && b.len() <= 2 && matches!(c.len(), 2 | 4) => Likeness::Date,
        [a, b, c] if a.len() == 4 && b.len() <= 2 && c.len() <= 2 => Likeness::Date,
        [a, b] if a.len() <= 2 && matches!(b.len(), 1 | 2 | 4) => Likeness::Date,
        [_, _, ..] if is_phone(&parts.concat()) => Likeness::Phone,
        _ => Likeness::Number,
    }
}

pub(super) fn is_phone(digits: &str) -> bool {
    let national = digits.starts_with('0') && (10..=11).contains(&digits.len());
    let international = digits.starts_with("84") && (11..=12).contains(&digits.len());
    // Numbers that a shop itself is called under.
    let service = (digits.starts_with("1900") || digits.starts_with("1800")) && matches!(digits.len(), 8 | 10);
    national || international || service
}

fn leading(text: &str, belongs: impl Fn(u8) -> bool) -> (&str, &str) {
    text.split_at(text.bytes().position(|b| !belongs(b)).unwrap_or(text.len()))
}

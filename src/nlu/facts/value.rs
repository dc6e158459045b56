//! What a number in a text means.

use std::ops::Range;

/// How many of the smallest steps are one.
const ONE: u128 = 1_000_000;
/// The number of exact digits after the decimal point.
const PLACES: usize = 6;
/// A number with more digits before the decimal point is a code.
const MOST_DIGITS: usize = 18;

/// A decimal number of 0 or more, exact to a millionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u128);

impl Amount {
    pub const fn whole(number: u64) -> Self {
        Self(number as u128 * ONE)
    }

    /// The number with these digits before and after its decimal point; `None` if it is too long to be an amount.
    pub fn parse(whole: &str, fraction: &str) -> Option<Self> {
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > MOST_DIGITS || fraction.len() > PLACES {
            return None;
        }
        let whole: u128 = whole.parse().ok()?;
        let millionths: u128 = format!("{fraction:0<PLACES$}").parse().ok()?;
        Some(Self(whole * ONE + millionths))
    }

    pub fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor.into()))
    }

    /// Rounded down to a millionth.
    pub fn divided(self, by: u64) -> Self {
        Self(self.0 / u128::from(by.max(1)))
    }

    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// In millionths.
    #[cfg(test)]
    pub(super) fn as_millionths(self) -> u128 {
        self.0
    }

    /// The number, if it is a whole one.
    pub fn as_whole(self) -> Option<u64> {
        self.0.is_multiple_of(ONE).then(|| u64::try_from(self.0 / ONE).ok())?
    }
}

/// Time that passes. A month has no fixed number of days, so there are two kinds: 24 tháng are 2 năm, and a week is 7 days.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Span {
    Seconds(Amount),
    Months(Amount),
}

/// What a number means; two spellings of the same thing are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// An amount of this currency, by its name in the rules.
    Money(Amount, String),
    Percent(Amount),
    /// What was said of a date: `31/12` has no year.
    Date {
        year: Option<u16>,
        month: Option<u8>,
        day: Option<u8>,
    },
    /// By 24 hours.
    Time {
        hour: u8,
        minute: u8,
    },
    Duration(Span),
    /// An amount of this unit, by its name in the rules.
    Measure(Amount, String),
    /// Vietnamese count: 2 is Monday, 7 Saturday.
    Weekday(u8),
    /// Digits alone, from the leading 0 on.
    Phone(String),
    /// A serial, an order number, a model: letters and digits in lower case, hyphens left out.
    Code(String),
    Number(Amount),
}

impl Value {
    /// What sort of value it is, in a word for receipts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Money(..) => "money",
            Self::Percent(_) => "percent",
            Self::Date { .. } => "date",
            Self::Time { .. } => "time",
            Self::Duration(_) => "duration",
            Self::Measure(..) => "measure",
            Self::Weekday(_) => "weekday",
            Self::Phone(_) => "phone",
            Self::Code(_) => "code",
            Self::Number(_) => "number",
        }
    }
}

/// A bare number in a row before a number with a unit: "3, 6 hoặc 12 tháng".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The number in the other one's unit.
    pub value: Value,
    /// Whether the unit is surely meant ("3 đến 5 ngày"); it may not be in "Vivobook 15, 16 GB".
    pub sure: bool,
}

/// A number in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its bytes in the text, with its unit.
    pub range: Range<usize>,
    pub value: Value,
    /// The number before any unit: 24 of "24 tháng".
    pub written: Option<Amount>,
    pub shared: Option<Shared>,
    /// Whether it only counts or numbers what the reply itself lists: "1.", "3 lựa chọn", "Bước 2", `[1]`.
    pub counts: bool,
    /// Whether the customer's own budget may be meant by it.
    pub budget: bool,
    /// Whether a word just before it makes a price of it.
    pub priced: bool,
    /// Whether it is the number of pieces in stock: "còn 12".
    pub stock: bool,
    /// Whether it is a word that only sources are asked for, such as "Monday".
    pub spoken: bool,
}

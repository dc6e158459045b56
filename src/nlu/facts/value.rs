//! What a number in a text means.

use std::ops::Range;

use super::Amount;

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

//! Amounts of money in whole minor units, so that sums have no rounding errors.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::language::NumberFormat;
use crate::domain::string_enum::string_enum;

string_enum! {
    /// A currency, by ISO 4217 code.
    pub enum Currency {
        Usd = "USD",
        Eur = "EUR",
        Vnd = "VND",
        Jpy = "JPY",
        Pln = "PLN",
        Kes = "KES",
    }
}

impl Currency {
    /// Returns the number of decimals (the exponent in ISO 4217).
    pub fn decimals(self) -> u32 {
        match self {
            Self::Usd | Self::Eur | Self::Pln | Self::Kes => 2,
            Self::Vnd | Self::Jpy => 0,
        }
    }

    /// Returns the smallest units in a whole one: 100 cents.
    fn minor_units(self) -> i64 {
        10_i64.pow(self.decimals())
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Usd => "$",
            Self::Eur => "€",
            Self::Vnd => "₫",
            Self::Jpy => "¥",
            Self::Pln => "PLN",
            Self::Kes => "KSh",
        }
    }
}

/// An amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = Amount)]
pub struct Money {
    /// In the currency's smallest unit.
    pub minor: i64,
    pub currency: Currency,
}

/// Why a calculation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("amounts of {0} and {1} cannot be added; an order has one currency")]
    Currencies(Currency, Currency),
    #[error("the amount is too large")]
    TooLarge,
}

/// Why a text is not an amount. Each message includes the fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAmount {
    #[error(
        "it is no amount; write digits without thousands separators, and a point before the decimals, such as 199000 or \
         129.99"
    )]
    Format,
    #[error("{currency} has {} decimals; write no more", currency.decimals())]
    Decimals { currency: Currency },
    #[error("the amount is too large")]
    TooLarge,
}

impl Money {
    pub const fn new(minor: i64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Returns the amount of this many whole units, such as shillings. `None` if it is too large.
    pub fn from_whole(whole: i64, currency: Currency) -> Option<Self> {
        Some(Self::new(whole.checked_mul(currency.minor_units())?, currency))
    }

    /// Returns the whole units, without decimals.
    pub fn whole(self) -> i64 {
        self.minor / self.currency.minor_units()
    }

    pub const fn zero(currency: Currency) -> Self {
        Self::new(0, currency)
    }

    /// Parses `129.99` or `1500000`, without sign, symbol or thousands separators.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, InvalidAmount> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        // `199.000` is 199000 in Viet Nam and Germany.
        let is_grouped = decimals.len() == 3;
        if whole.is_empty() || !is_digits(whole) || !is_digits(decimals) || is_grouped || text.ends_with('.') {
            return Err(InvalidAmount::Format);
        }
        let places = currency.decimals() as usize;
        // Spreadsheets write a whole amount as `1500000.00`.
        let (kept, beyond) = decimals.split_at(decimals.len().min(places));
        if beyond.bytes().any(|b| b != b'0') {
            return Err(InvalidAmount::Decimals { currency });
        }
        let minor = format!("{whole}{kept:0<places$}").parse().map_err(|_| InvalidAmount::TooLarge)?;
        Ok(Self::new(minor, currency))
    }

    pub fn plus(self, other: Self) -> Result<Self, MoneyError> {
        let other = self.same_currency(other)?;
        Ok(Self::new(self.minor.checked_add(other).ok_or(MoneyError::TooLarge)?, self.currency))
    }

    /// Returns the difference, or zero if `other` is larger.
    pub fn minus(self, other: Self) -> Result<Self, MoneyError> {
        let other = self.same_currency(other)?;
        Ok(Self::new(self.minor.saturating_sub(other).max(0), self.currency))
    }

    pub fn times(self, count: u32) -> Result<Self, MoneyError> {
        Ok(Self::new(self.minor.checked_mul(count.into()).ok_or(MoneyError::TooLarge)?, self.currency))
    }

    /// Returns the smaller of the two amounts.
    pub fn at_most(self, other: Self) -> Result<Self, MoneyError> {
        let other = self.same_currency(other)?;
        Ok(Self::new(self.minor.min(other), self.currency))
    }

    fn same_currency(self, other: Self) -> Result<i64, MoneyError> {
        if self.currency == other.currency {
            Ok(other.minor)
        } else {
            Err(MoneyError::Currencies(self.currency, other.currency))
        }
    }

    /// Formats the amount for customers: `$1,299.50`, `1.500.000 ₫`, `45.00 PLN`, in Polish `45,00 zł`. Kenyan prices are whole
    /// shillings, so that cents are only shown where there are any: `KSh 1,250`.
    pub fn shown(self, format: &NumberFormat) -> String {
        let (whole, mut decimals) = self.parts();
        if self.currency == Currency::Kes && decimals.bytes().all(|digit| digit == b'0') {
            decimals.clear();
        }
        let mut number = in_thousands(&whole, &format.thousands);
        if !decimals.is_empty() {
            number.push_str(&format.decimals);
            number.push_str(&decimals);
        }
        let sign = if self.minor < 0 { "-" } else { "" };
        let symbol = format.symbols.get(&self.currency).map_or(self.currency.symbol(), String::as_str);
        if format.symbol_after || matches!(self.currency, Currency::Vnd | Currency::Pln) {
            format!("{sign}{number} {symbol}")
        } else {
            let space = if symbol.ends_with(char::is_alphabetic) { " " } else { "" };
            format!("{sign}{symbol}{space}{number}")
        }
    }

    /// Returns the digits before and after the decimal point.
    fn parts(self) -> (String, String) {
        let places = self.currency.decimals() as usize;
        let digits = format!("{:0>width$}", self.minor.unsigned_abs(), width = places + 1);
        let (whole, decimals) = digits.split_at(digits.len() - places);
        (whole.to_owned(), decimals.to_owned())
    }
}

/// Writes a separator between the thousands of a number's digits: `1.890.000`.
pub fn in_thousands(digits: &str, separator: &str) -> String {
    let mut number = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            number.push_str(separator);
        }
        number.push(digit);
    }
    number
}

impl FromStr for Money {
    type Err = InvalidAmount;

    /// Parses what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        let (amount, currency) = text.rsplit_once(' ').ok_or(InvalidAmount::Format)?;
        Self::parse(amount, Currency::parse(currency).ok_or(InvalidAmount::Format)?)
    }
}

impl fmt::Display for Money {
    /// For machines and operators: `129.99 USD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, decimals) = self.parts();
        let sign = if self.minor < 0 { "-" } else { "" };
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{decimals} {}", self.currency)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amount_is_parsed_exactly_or_refused() {
        use Currency::{Eur, Jpy, Kes, Usd, Vnd};
        for (text, currency, expected) in [
            ("129.99", Usd, Ok(12_999)),
            ("129.9", Usd, Ok(12_990)),
            ("129", Usd, Ok(12_900)),
            ("0.05", Eur, Ok(5)),
            ("1500000", Vnd, Ok(1_500_000)),
            ("1500000.00", Vnd, Ok(1_500_000)),
            ("1500", Jpy, Ok(1_500)),
            ("1500000.0", Vnd, Ok(1_500_000)),
            ("129.9900", Usd, Ok(12_999)),
            ("129.9999", Usd, Err(InvalidAmount::Decimals { currency: Usd })),
            ("129.990", Usd, Err(InvalidAmount::Format)),
            ("129.999", Usd, Err(InvalidAmount::Format)),
            ("199.000", Vnd, Err(InvalidAmount::Format)),
            ("12.000", Kes, Err(InvalidAmount::Format)),
            ("1.290", Eur, Err(InvalidAmount::Format)),
            ("1500.5", Jpy, Err(InvalidAmount::Decimals { currency: Jpy })),
            ("", Usd, Err(InvalidAmount::Format)),
            (".99", Usd, Err(InvalidAmount::Format)),
            ("12.", Usd, Err(InvalidAmount::Format)),
            ("-12.00", Usd, Err(InvalidAmount::Format)),
            ("1,299.00", Usd, Err(InvalidAmount::Format)),
            ("$12", Usd, Err(InvalidAmount::Format)),
            ("1e3", Usd, Err(InvalidAmount::Format)),
            ("١٢", Usd, Err(InvalidAmount::Format)),
            ("92233720368547758070", Vnd, Err(InvalidAmount::TooLarge)),
        ] {
            assert_eq!(Money::parse(text, currency), expected.map(|minor| Money::new(minor, currency)), "{text:?}");
        }
        assert!(InvalidAmount::Format.to_string().contains("without thousands separators"));
    }

    #[test]
    fn amount_is_shown_in_the_customers_language() {
        let format = |thousands: &str, decimals: &str, symbol_after| NumberFormat {
            thousands: thousands.to_owned(),
            decimals: decimals.to_owned(),
            symbol_after,
            symbols: [(Currency::Pln, "zł".to_owned())].into_iter().filter(|_| symbol_after).collect(),
        };
        let (english, vietnamese, polish) =
            (format(",", ".", false), format(".", ",", false), format("\u{a0}", ",", true));
        for (minor, currency, en, vi, plain) in [
            (12_999, Currency::Usd, "$129.99", "$129,99", "129.99 USD"),
            (129_950, Currency::Eur, "€1,299.50", "€1.299,50", "1299.50 EUR"),
            (1_500_000, Currency::Vnd, "1,500,000 ₫", "1.500.000 ₫", "1500000 VND"),
            (1_500, Currency::Jpy, "¥1,500", "¥1.500", "1500 JPY"),
            (5, Currency::Usd, "$0.05", "$0,05", "0.05 USD"),
            (0, Currency::Vnd, "0 ₫", "0 ₫", "0 VND"),
            (4_500, Currency::Pln, "45.00 PLN", "45,00 PLN", "45.00 PLN"),
            (125_000, Currency::Kes, "KSh 1,250", "KSh 1.250", "1250.00 KES"),
            (125_050, Currency::Kes, "KSh 1,250.50", "KSh 1.250,50", "1250.50 KES"),
            (-100, Currency::Kes, "-KSh 1", "-KSh 1", "-1.00 KES"),
            (-250, Currency::Usd, "-$2.50", "-$2,50", "-2.50 USD"),
        ] {
            let money = Money::new(minor, currency);
            assert_eq!((money.shown(&english), money.shown(&vietnamese)), (en.to_owned(), vi.to_owned()));
            assert_eq!(money.to_string(), plain);
        }
        assert_eq!(Money::new(129_950, Currency::Eur).shown(&polish), "1\u{a0}299,50 €");
        assert_eq!(Money::new(100_000, Currency::Pln).shown(&polish), "1\u{a0}000,00 zł");
    }

    #[test]
    fn whole_units_have_no_decimals() {
        let shillings = Money::from_whole(1_250, Currency::Kes);
        assert_eq!(shillings, Some(Money::new(125_000, Currency::Kes)));
        assert_eq!(Money::from_whole(1_250, Currency::Vnd), Some(Money::new(1_250, Currency::Vnd)));
        assert_eq!((Money::new(125_099, Currency::Kes).whole(), Money::new(7, Currency::Jpy).whole()), (1_250, 7));
        assert_eq!(Money::from_whole(i64::MAX, Currency::Kes), None);
    }

    #[test]
    fn currencies_do_not_mix_or_overflow() {
        let (dollar, euro) = (Money::new(100, Currency::Usd), Money::new(100, Currency::Eur));
        assert_eq!(dollar.plus(euro), Err(MoneyError::Currencies(Currency::Usd, Currency::Eur)));
        assert_eq!(Money::new(i64::MAX, Currency::Usd).plus(dollar), Err(MoneyError::TooLarge));
        assert_eq!(Money::new(i64::MAX, Currency::Usd).times(2), Err(MoneyError::TooLarge));
        assert_eq!(dollar.minus(Money::new(300, Currency::Usd)), Ok(Money::zero(Currency::Usd)));
    }

    proptest! {
        #[test]
        fn formatted_amount_parses_back(minor in 0_i64.., currency in prop::sample::select(Currency::ALL)) {
            let money = Money::new(minor, currency);
            prop_assert_eq!(money.to_string().parse(), Ok(money));
        }
    }
}

//! Exact decimal numbers.

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

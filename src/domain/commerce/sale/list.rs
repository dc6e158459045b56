//! A shop's list of offers.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::{Discount, Offer, SaleId};
use crate::domain::calendar::end_of_day;
use crate::domain::commerce::catalog::list::{MAX_NAME, line, price};
use crate::domain::list::{BadValue, Column, Reader, Row};
use crate::domain::string_enum::string_enum;
use crate::domain::text::fold;
use crate::domain::warranty::parse_date;

string_enum! {
    /// A column of the list.
    pub enum OfferField {
        Code = "code",
        /// What the customer reads.
        Terms = "terms",
        /// `10%`, or whole shillings.
        Discount = "discount",
        /// The last day.
        Ends = "ends",
        /// The least that the goods must cost, in whole shillings.
        MinTotal = "min_total",
        /// `Shoes | Boots`; empty = all goods.
        Categories = "categories",
    }
}

impl Column for OfferField {
    const NEEDED: &'static [Self] = &[Self::Code, Self::Terms, Self::Discount, Self::Ends];
}

/// A row of the list.
pub type OfferRow = Row<OfferField>;

/// A refused value of a row.
pub type BadOffer = BadValue<OfferField>;

/// The longest terms, in characters: they are a line of a chat.
const MAX_TERMS: usize = 200;
/// The lengths of a code, in characters. Shorter words of a message are never codes.
const CODE_LENGTH: std::ops::RangeInclusive<usize> = 4..=20;

/// What the offers of a list are checked against.
pub struct OfferChecks<'a> {
    /// The categories of the shop's goods.
    pub categories: &'a [String],
    /// The shop's time zone, in which days end.
    pub zone: Tz,
    pub now: DateTime<Utc>,
}

/// Returns the offers in the order of the list, and all refused values. A code is listed once.
pub fn offers_of(rows: &[OfferRow], checks: &OfferChecks<'_>) -> (Vec<Offer>, Vec<BadOffer>) {
    let (mut offers, mut bad) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, u64> = HashMap::new();
    for row in rows {
        match read(row, checks) {
            Ok(offer) => match places.get(&offer.code) {
                Some(earlier) => {
                    let hint = format!("line {earlier} has the same code; list it once");
                    bad.push(row.refuse(OfferField::Code, hint));
                }
                None => {
                    places.insert(offer.code.clone(), row.place);
                    offers.push(offer);
                }
            },
            Err(refused) => bad.extend(refused),
        }
    }
    (offers, bad)
}

fn read(row: &OfferRow, checks: &OfferChecks<'_>) -> Result<Offer, Vec<BadOffer>> {
    let mut reader = Reader::new(row);
    let code = reader.needed(OfferField::Code, code);
    let terms = reader.needed(OfferField::Terms, |text| line(text, MAX_TERMS));
    let discount = reader.needed(OfferField::Discount, discount);
    let ends_at = reader.needed(OfferField::Ends, |text| last_moment(text, checks));
    let min_total = reader.find(OfferField::MinTotal, price);
    let categories = reader.find(OfferField::Categories, |text| known_categories(text, checks.categories));
    let made = match (code, terms, discount, ends_at) {
        (Some(code), Some(terms), Some(discount), Some(ends_at)) => {
            Some(Offer { code, terms, discount, min_total, categories: categories.unwrap_or_default(), ends_at })
        }
        _ => None,
    };
    reader.finish(made)
}

/// Reads a code that a message can name in any case: without a digit, it may be a word. See `Said::codes` of the desk.
fn code(text: &str) -> Result<String, String> {
    let code = text.to_ascii_uppercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let has = |is: fn(&char) -> bool| code.chars().any(|c| is(&c));
    let is_code = CODE_LENGTH.contains(&code.len()) && code.chars().all(is_part);
    if !is_code || !has(char::is_ascii_alphabetic) || !has(char::is_ascii_digit) {
        let (least, most) = (CODE_LENGTH.start(), CODE_LENGTH.end());
        return Err(format!("write {least} to {most} letters and digits, such as KARIBU10"));
    }
    match code.parse::<SaleId>() {
        Ok(_) => Err("the number of an order may look like this; choose another code".to_owned()),
        Err(_) => Ok(code),
    }
}

fn discount(text: &str) -> Result<Discount, String> {
    let Some(percent) = text.strip_suffix('%') else {
        let hint = |hint| format!("{hint}, or percent, such as 10%");
        return price(text).map(Discount::Amount).map_err(hint);
    };
    match percent.trim().parse() {
        Ok(percent @ 1..=100) => Ok(Discount::Percent(percent)),
        _ => Err("write whole percent from 1% to 100%".to_owned()),
    }
}

fn last_moment(text: &str, checks: &OfferChecks<'_>) -> Result<DateTime<Utc>, String> {
    let end = end_of_day(parse_date(text).map_err(|error| error.to_string())?, checks.zone);
    if end < checks.now {
        return Err("the day is over; write a later one, or remove the row".to_owned());
    }
    Ok(end)
}

/// Reads categories with bars between them, in the spelling of the shop's goods.
fn known_categories(text: &str, of_shop: &[String]) -> Result<Vec<String>, String> {
    let spelled: BTreeMap<String, &String> = of_shop.iter().map(|name| (fold(name), name)).collect();
    let mut named: Vec<String> = Vec::new();
    for name in text.split('|').map(|name| line(name, MAX_NAME)) {
        let name = name?;
        let Some(known) = spelled.get(&fold(&name)) else {
            let known = match of_shop {
                [] => "import the goods first".to_owned(),
                _ => format!("write one of: {}", of_shop.join(", ")),
            };
            return Err(format!("no item of the shop has the category \"{name}\"; {known}"));
        };
        if !named.contains(known) {
            named.push((*known).clone());
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::commerce::Money;
    use crate::domain::commerce::catalog::CATALOG_CURRENCY;

    const KARIBU: [(OfferField, &str); 6] = [
        (OfferField::Code, "Karibu10"),
        (OfferField::Terms, "10 % off  shoes"),
        (OfferField::Discount, "10%"),
        (OfferField::Ends, "2026-12-31"),
        (OfferField::MinTotal, "1000"),
        (OfferField::Categories, "shoes | Sandals|SHOES"),
    ];

    fn read_all(rows: &[OfferRow]) -> (Vec<Offer>, Vec<BadOffer>) {
        let categories = ["Sandals", "Shoes"].map(str::to_owned);
        let now = "2026-12-31T20:00:00Z".parse().expect("a time");
        offers_of(rows, &OfferChecks { categories: &categories, zone: Tz::Africa__Nairobi, now })
    }

    fn row(place: u64, changed: &[(OfferField, &str)]) -> OfferRow {
        let fields = KARIBU.iter().chain(changed).map(|(field, text)| (*field, (*text).to_owned()));
        Row { place, fields: fields.collect() }
    }

    #[test]
    fn row_becomes_an_offer() {
        let offer = Offer {
            code: "KARIBU10".to_owned(),
            terms: "10 % off shoes".to_owned(),
            discount: Discount::Percent(10),
            min_total: Some(Money::new(100_000, CATALOG_CURRENCY)),
            categories: vec!["Shoes".to_owned(), "Sandals".to_owned()],
            // The last second of the day in Nairobi.
            ends_at: "2026-12-31T20:59:59Z".parse().expect("a time"),
        };
        assert_eq!(read_all(&[row(2, &[])]), (vec![offer], vec![]));
        let (offers, bad) = read_all(&[row(2, &[(OfferField::Discount, "300")])]);
        assert_eq!((offers[0].discount, bad), (Discount::Amount(Money::new(30_000, CATALOG_CURRENCY)), vec![]));
    }

    #[test]
    fn invalid_values_are_refused_with_a_hint() {
        use OfferField::{Categories, Code, Discount, Ends, MinTotal, Terms};
        for (field, text, hint) in [
            (Code, "ABC", "write 4 to 20 letters and digits"),
            (Code, "2026", "write 4 to 20 letters and digits"),
            (Code, "WELCOME", "write 4 to 20 letters and digits"),
            (Code, "TEN OFF", "write 4 to 20 letters and digits"),
            (Code, "K48213", "choose another code"),
            (Terms, &"x".repeat(201), "longer than 200"),
            (Discount, "0%", "from 1% to 100%"),
            (Discount, "101%", "from 1% to 100%"),
            (Discount, "12.50", "has cents; write whole shillings"),
            (Discount, "ten", "such as 1250, or percent, such as 10%"),
            (Ends, "soon", "YYYY-MM-DD"),
            (Ends, "2026-12-30", "the day is over"),
            (MinTotal, "1,000", "write whole shillings"),
            (Categories, "Shoes | Hats", "the category \"Hats\"; write one of: Sandals, Shoes"),
        ] {
            let (offers, bad) = read_all(&[row(2, &[(field, text)])]);
            let [bad] = bad.as_slice() else { panic!("{text}: {offers:?}") };
            assert!(bad.field == field && bad.hint.contains(hint), "{text}: {}", bad.hint);
        }
    }

    #[test]
    fn code_is_listed_once() {
        let (offers, bad) = read_all(&[row(2, &[]), row(3, &[(OfferField::Code, "KARIBU10")])]);
        assert_eq!((offers.len(), bad[0].place), (1, 3));
        assert!(bad[0].hint.contains("line 2"), "{bad:?}");
    }
}

//! A shop's list of goods.

use std::collections::{BTreeMap, HashMap};

use url::Url;

use super::{CATALOG_CURRENCY, CatalogItem, ItemId};
use crate::domain::commerce::Money;
use crate::domain::commerce::tenant::has_user;
use crate::domain::list::{BadValue, Column, Reader, Row};
use crate::domain::string_enum::string_enum;
use crate::domain::text::fold;

string_enum! {
    /// A column of the list.
    pub enum CatalogField {
        ItemId = "item_id",
        Name = "name",
        Category = "category",
        /// In whole shillings.
        Price = "price",
        Stock = "stock",
        Description = "description",
        /// `brand: Bata; material: canvas`
        Attributes = "attributes",
        /// `size: 40 | 41; colour: black | white`
        Variants = "variants",
        Url = "url",
    }
}

impl Column for CatalogField {
    const NEEDED: &'static [Self] = &[Self::ItemId, Self::Name, Self::Category, Self::Price, Self::Stock];
}

/// A row of the list.
pub type CatalogRow = Row<CatalogField>;

/// A refused value of a row.
pub type BadItem = BadValue<CatalogField>;

/// The longest name and category, in characters: they are lines of a chat.
pub(in crate::domain::commerce) const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 1_000;
const MAX_STOCK: u32 = 1_000_000;
/// The highest price in shillings.
const MAX_PRICE: i64 = 100_000_000;
/// The most attributes, variants, and choices of one variant.
const MAX_ENTRIES: usize = 30;

/// Returns the items in the order of the list, and all refused values. An item is listed once.
pub fn items_of(rows: &[CatalogRow]) -> (Vec<CatalogItem>, Vec<BadItem>) {
    let (mut items, mut bad) = (Vec::new(), Vec::new());
    let mut places: HashMap<ItemId, u64> = HashMap::new();
    for row in rows {
        match read(row) {
            Ok(item) => match places.insert(item.id.clone(), row.place) {
                None => items.push(item),
                Some(earlier) => {
                    places.insert(item.id, earlier);
                    let hint = format!("line {earlier} has the same item; list it once");
                    bad.push(row.refuse(CatalogField::ItemId, hint));
                }
            },
            Err(refused) => bad.extend(refused),
        }
    }
    (items, bad)
}

fn read(row: &CatalogRow) -> Result<CatalogItem, Vec<BadItem>> {
    let mut reader = Reader::new(row);
    let id = reader.needed(CatalogField::ItemId, |text| text.parse::<ItemId>().map_err(|error| error.to_string()));
    let name = reader.needed(CatalogField::Name, |text| line(text, MAX_NAME));
    let category = reader.needed(CatalogField::Category, |text| line(text, MAX_NAME));
    let price = reader.needed(CatalogField::Price, price);
    let stock = reader.needed(CatalogField::Stock, |text| match text.parse() {
        Ok(stock @ 0..=MAX_STOCK) => Ok(stock),
        _ => Err(format!("write the number of pieces, from 0 to {MAX_STOCK}")),
    });
    let description = reader.find(CatalogField::Description, |text| line(text, MAX_DESCRIPTION));
    let attributes = reader.find(CatalogField::Attributes, attributes);
    let variants = reader.find(CatalogField::Variants, variants);
    let url = reader.find(CatalogField::Url, |text| match Url::parse(text) {
        Ok(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() && !has_user(&url) => {
            Ok(url.to_string())
        }
        _ => Err("write the address of the item's page, such as https://shop.example/goods/1".to_owned()),
    });
    let made = match (id, name, category, price, stock) {
        (Some(id), Some(name), Some(category), Some(price), Some(stock)) => Some(CatalogItem {
            id,
            name,
            category,
            description: description.unwrap_or_default(),
            price,
            stock,
            attributes: attributes.unwrap_or_default(),
            variants: variants.unwrap_or_default(),
            url,
        }),
        _ => None,
    };
    reader.finish(made)
}

pub(in crate::domain::commerce) fn line(text: &str, max: usize) -> Result<String, String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= max { Ok(text) } else { Err(format!("it is longer than {max} characters; shorten it")) }
}

pub(in crate::domain::commerce) fn price(text: &str) -> Result<Money, String> {
    let hint = "write whole shillings without separators, such as 1250";
    let price = Money::parse(text, CATALOG_CURRENCY).map_err(|_| hint.to_owned())?;
    let per_shilling = 10_i64.pow(CATALOG_CURRENCY.decimals());
    if price.minor % per_shilling != 0 {
        return Err(format!("it has cents; {hint}"));
    }
    match price.minor / per_shilling {
        1..=MAX_PRICE => Ok(price),
        _ => Err(format!("write a price from 1 to {MAX_PRICE}")),
    }
}

fn attributes(text: &str) -> Result<BTreeMap<String, String>, String> {
    named(text, "brand: Bata; material: canvas", |value| line(value, MAX_NAME).map(Some))
}

fn variants(text: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    named(text, "size: 40 | 41; colour: black | white", |value| {
        let choices = value.split('|').map(|choice| line(choice, MAX_NAME)).collect::<Result<Vec<String>, _>>()?;
        let folded = |at: usize| fold(&choices[at]);
        let differ = (0..choices.len()).all(|at| (0..at).all(|earlier| folded(earlier) != folded(at)));
        let is_good = differ && choices.len() <= MAX_ENTRIES && choices.iter().all(|choice| !choice.is_empty());
        Ok(is_good.then_some(choices))
    })
}

/// Reads `name: value` pairs with semicolons between them. Names are in lower case and different. `value` returns `None` for a value
/// that is not written like the example.
fn named<T>(
    text: &str,
    example: &str,
    value: impl Fn(&str) -> Result<Option<T>, String>,
) -> Result<BTreeMap<String, T>, String> {
    let hint = || format!("write it as \"{example}\", each name and choice once");
    let mut entries = BTreeMap::new();
    for pair in text.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, rest) = pair.split_once(':').ok_or_else(hint)?;
        let name = line(&name.to_lowercase(), MAX_NAME)?;
        if name.is_empty() || rest.trim().is_empty() || entries.contains_key(&name) {
            return Err(hint());
        }
        entries.insert(name, value(rest)?.ok_or_else(hint)?);
    }
    if entries.len() <= MAX_ENTRIES { Ok(entries) } else { Err(format!("it has more than {MAX_ENTRIES} names")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(place: u64, fields: &[(CatalogField, &str)]) -> CatalogRow {
        Row { place, fields: fields.iter().map(|(field, text)| (*field, (*text).to_owned())).collect() }
    }

    const SHOES: [(CatalogField, &str); 9] = [
        (CatalogField::ItemId, "sh-1"),
        (CatalogField::Name, "Canvas  shoes"),
        (CatalogField::Category, "Shoes"),
        (CatalogField::Price, "1250"),
        (CatalogField::Stock, "12"),
        (CatalogField::Description, "Light shoes\nfor town"),
        (CatalogField::Attributes, "Brand: Bata; material: canvas;"),
        (CatalogField::Variants, "size: 40 | 41|42; colour: black|white"),
        (CatalogField::Url, "https://shop.example/goods/1"),
    ];

    fn with(field: CatalogField, text: &str) -> CatalogRow {
        let mut row = row(2, &SHOES);
        row.fields.insert(field, text.to_owned());
        row
    }

    #[test]
    fn row_becomes_an_item() {
        let (items, bad) = items_of(&[row(2, &SHOES)]);
        let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let item = CatalogItem {
            id: "SH-1".parse().expect("an id"),
            name: "Canvas shoes".to_owned(),
            category: "Shoes".to_owned(),
            description: "Light shoes for town".to_owned(),
            price: Money::new(125_000, CATALOG_CURRENCY),
            stock: 12,
            attributes: [("brand", "Bata"), ("material", "canvas")].map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            variants: [
                ("size".to_owned(), text(&["40", "41", "42"])),
                ("colour".to_owned(), text(&["black", "white"])),
            ]
            .into(),
            url: Some("https://shop.example/goods/1".to_owned()),
        };
        assert_eq!((items, bad), (vec![item], vec![]));
    }

    #[test]
    fn invalid_values_are_refused_with_a_hint() {
        use CatalogField::{Attributes, ItemId, Name, Price, Stock, Url, Variants};
        for (field, text, hint) in [
            (ItemId, "a b", "letters and digits"),
            (Name, &"x".repeat(101), "longer than 100"),
            (Price, "1250.50", "has cents; write whole shillings"),
            (Price, "1,250", "write whole shillings"),
            (Price, "12.000", "write whole shillings without separators"),
            (Price, "0", "from 1"),
            (Price, "100000001", "from 1"),
            (Stock, "-1", "the number of pieces"),
            (Stock, "1.5", "the number of pieces"),
            (Attributes, "Bata", "brand: Bata"),
            (Attributes, "brand: Bata; Brand: Nike", "each name and choice once"),
            (Variants, "size: 40 | | 41", "size: 40 | 41"),
            (Variants, "size: black|Black", "each name and choice once"),
            (Attributes, &format!("brand: {}", "x".repeat(101)), "longer than 100"),
            (Attributes, &format!("{}: Bata", "x".repeat(101)), "longer than 100"),
            (Variants, &format!("size: 40 | {}", "x".repeat(101)), "longer than 100"),
            (Url, "javascript:alert(1)", "https://"),
            (Url, "https://:secret@shop.example/", "https://"),
        ] {
            let (items, bad) = items_of(&[with(field, text)]);
            let [bad] = bad.as_slice() else { panic!("{text}: {items:?}") };
            assert!(bad.field == field && bad.hint.contains(hint), "{text}: {}", bad.hint);
        }
        let (items, bad) = items_of(&[row(2, &SHOES[..3])]);
        assert_eq!((items.len(), bad.iter().map(|bad| bad.field).collect::<Vec<_>>()), (0, vec![Price, Stock]));
    }

    #[test]
    fn item_is_listed_once() {
        let again = |place| Row { place, ..with(CatalogField::ItemId, "SH-1") };
        let (items, bad) = items_of(&[row(2, &SHOES), again(3), again(4)]);
        assert_eq!(items.len(), 1);
        assert_eq!(bad.iter().map(|bad| bad.place).collect::<Vec<_>>(), [3, 4]);
        assert!(bad.iter().all(|bad| bad.hint.contains("line 2")), "{bad:?}");
    }
}

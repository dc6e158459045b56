//! Rows of a list of orders, from CSV or from JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use crate::cli::upsert_warranty::csv_rows::open_records;
use crate::cli::upsert_warranty::report::quoted;
use crate::domain::returns::listing::{Field, Row};

/// What a file holds.
#[derive(Debug, Default)]
pub struct Listed {
    pub rows: Vec<Row>,
    /// Rows with more or fewer fields than the header.
    pub ragged: Vec<Ragged>,
    /// Columns that mean nothing to us, as quoted names.
    pub ignored_columns: Vec<String>,
    /// What the places of rows count: `line` or `order`.
    pub place: &'static str,
}

#[derive(Debug)]
pub struct Ragged {
    pub line: u64,
    pub fields: usize,
    pub expected: usize,
    /// What stands where the order's number should.
    pub number: String,
}

/// Reads the file, which is JSON if its name says so.
pub fn read(file: File, path: &Path) -> anyhow::Result<Listed> {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json { read_json(BufReader::new(file)) } else { read_csv(file) }
}

fn read_csv(file: impl Read) -> anyhow::Result<Listed> {
    let known_among = |header: &[&str]| header.iter().filter(|name| field(name).is_some()).count();
    let (mut records, line) = open_records(file, known_among)?;
    let header: Vec<String> = records.fields(line)?.into_iter().map(|name| name.trim().to_owned()).collect();
    let columns: Vec<Option<Field>> = header.iter().map(|name| field(name)).collect();
    check_header(&header, &columns)?;
    let mut listed = Listed { place: "line", ..Listed::default() };
    let ignored = header.iter().zip(&columns).filter(|(_, column)| column.is_none());
    listed.ignored_columns = ignored.map(|(name, _)| quoted(name, 40)).collect();
    while let Some(line) = records.advance()? {
        let texts = records.fields(line)?;
        if texts.len() != columns.len() {
            let at = columns.iter().position(|column| *column == Some(Field::OrderNumber)).unwrap_or(0);
            let number = texts.get(at).copied().unwrap_or_default().trim().to_owned();
            listed.ragged.push(Ragged { line, fields: texts.len(), expected: columns.len(), number });
            continue;
        }
        let fields = columns.iter().zip(texts).filter_map(|(column, text)| {
            let text = text.trim();
            column.filter(|_| !text.is_empty()).map(|column| (column, text.to_owned()))
        });
        listed.rows.push(Row { place: line, fields: fields.collect() });
    }
    Ok(listed)
}

fn field(name: &str) -> Option<Field> {
    Field::parse(name.trim())
}

fn check_header(header: &[String], columns: &[Option<Field>]) -> anyhow::Result<()> {
    let missing: Vec<&str> = Field::NEEDED
        .iter()
        .filter(|needed| !columns.contains(&Some(**needed)))
        .map(|needed| needed.as_str())
        .collect();
    if !missing.is_empty() {
        let needed: Vec<&str> = Field::NEEDED.iter().map(|needed| needed.as_str()).collect();
        let found: Vec<String> = header.iter().take(20).map(|name| quoted(name, 40)).collect();
        bail!(
            "the first line must name the columns {}, in any order; missing: {}; found: {}",
            needed.join(", "),
            missing.join(", "),
            found.join(", ")
        );
    }
    let mut seen = BTreeSet::new();
    match columns.iter().flatten().find(|column| !seen.insert(**column)) {
        Some(twice) => bail!("the first line names the column {twice} more than once; rename or delete all but one"),
        None => Ok(()),
    }
}

/// An array of orders; the fields of an item stand in the objects of `items`.
fn read_json(file: impl Read) -> anyhow::Result<Listed> {
    let orders: Vec<Map<String, Value>> = serde_json::from_reader(file).context(
        "the file must be a JSON array of orders, such as [{\"order_number\": \"77893\", …, \"items\": [{…}]}]",
    )?;
    let mut listed = Listed { place: "order", ..Listed::default() };
    for (place, mut order) in (1..).zip(orders) {
        let items = match order.remove("items") {
            Some(Value::Array(items)) if !items.is_empty() => items,
            _ => bail!("order {place} has no items; write them as an array of objects under \"items\""),
        };
        let mut own = BTreeMap::new();
        take_fields(place, order, &mut own, &mut listed.ignored_columns)?;
        for item in items {
            let Value::Object(item) = item else { bail!("an item of order {place} is no object") };
            let mut fields = own.clone();
            take_fields(place, item, &mut fields, &mut listed.ignored_columns)?;
            listed.rows.push(Row { place, fields });
        }
    }
    Ok(listed)
}

fn take_fields(
    place: u64,
    object: Map<String, Value>,
    fields: &mut BTreeMap<Field, String>,
    ignored: &mut Vec<String>,
) -> anyhow::Result<()> {
    for (name, value) in object {
        let Some(field) = field(&name) else {
            let name = quoted(&name, 40);
            if !ignored.contains(&name) {
                ignored.push(name);
            }
            continue;
        };
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(is) => is.to_string(),
            Value::Array(_) | Value::Object(_) => bail!("{field} of order {place} is neither a text nor a number"),
        };
        if !text.is_empty() {
            fields.insert(field, text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "order_number,customer_email,customer_name,status,ordered_at,currency,item_name,unit_price,note\n";

    #[test]
    fn the_same_order_is_read_from_csv_and_from_json() {
        let csv = format!("{HEADER}77893,a@b.vn,An,Delivered,2026-11-01,USD,Boots,129.90, x \n");
        let json = r#"[{"order_number": 77893, "customer_email": " a@b.vn", "customer_name": "An", "status": "Delivered",
            "ordered_at": "2026-11-01", "currency": "USD", "note": "x", "sku": null,
            "items": [{"item_name": "Boots", "unit_price": "129.90"}]}]"#;
        let (csv, json) = (read_csv(csv.as_bytes()).unwrap(), read_json(json.as_bytes()).unwrap());
        assert_eq!(csv.rows[0].fields, json.rows[0].fields);
        assert_eq!((csv.rows[0].place, json.rows[0].place), (2, 1));
        let ignored = vec!["\"note\"".to_owned()];
        assert_eq!((csv.ignored_columns, json.ignored_columns), (ignored.clone(), ignored));
    }

    #[test]
    fn a_file_that_does_not_do_says_what_is_missing() {
        for (file, says) in [
            ("", "the file is empty"),
            ("order_number,item_name\n", "missing: customer_email, customer_name, status"),
            (&HEADER.replace("note", "Status"), "names the column status more than once"),
        ] {
            let error = format!("{:#}", read_csv(file.as_bytes()).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
        for (file, says) in [
            ("{}", "JSON array of orders"),
            (r#"[{"order_number": "77893"}]"#, "order 1 has no items"),
            (r#"[{"items": [1]}]"#, "an item of order 1 is no object"),
            (r#"[{"order_number": {}, "items": [{}]}]"#, "order_number of order 1"),
        ] {
            let error = format!("{:#}", read_json(file.as_bytes()).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
        let ragged = read_csv(format!("{HEADER}77893,a@b.vn\n").as_bytes()).unwrap().ragged;
        assert_eq!((ragged.len(), ragged[0].line, ragged[0].number.as_str()), (1, 2, "77893"));
    }
}

//! Reads a list of orders from CSV or JSON.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use crate::app::list_file::{Ragged, Table, quoted};
use crate::domain::returns::listing::{Field, Row};
use crate::domain::text::clean;

/// The content of a list.
#[derive(Debug, Default)]
pub struct Listed {
    pub rows: Vec<Row>,
    /// Rows with more or fewer fields than the header.
    pub ragged: Vec<Ragged>,
    /// The quoted names of unknown columns.
    pub ignored_columns: Vec<String>,
    /// The unit that rows are numbered in: `line` or `order`.
    pub place: &'static str,
}

/// Reads the file as JSON if its name ends in `.json`, else as CSV.
pub fn read(file: File, path: &Path) -> anyhow::Result<Listed> {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json { read_json(BufReader::new(file)) } else { read_csv(file) }
}

fn read_csv(file: impl Read) -> anyhow::Result<Listed> {
    let Table { rows, ragged, ignored_columns } = Table::read(file)?;
    Ok(Listed { rows, ragged, ignored_columns, place: "line" })
}

const EXPECTED: &str =
    r#"the file must be a JSON array of orders, such as [{"order_number": "77893", …, "items": [{…}]}]"#;

/// Reads an array of orders, each with its items in `items`.
fn read_json(file: impl Read) -> anyhow::Result<Listed> {
    let Value::Array(orders) = serde_json::from_reader(file).context(EXPECTED)? else { bail!("{EXPECTED}") };
    let mut listed = Listed { place: "order", ..Listed::default() };
    for (place, order) in (1..).zip(orders) {
        let Value::Object(mut order) = order else {
            bail!("order {place} is not an object; write it as {{\"order_number\": …, \"items\": [{{…}}]}}")
        };
        let items = match order.remove("items") {
            Some(Value::Array(items)) if !items.is_empty() => items,
            _ => bail!("order {place} has no items; write them as an array of objects under \"items\""),
        };
        let mut own = BTreeMap::new();
        take_fields(place, order, &mut own, &mut listed.ignored_columns)?;
        for item in items {
            let Value::Object(item) = item else { bail!("an item of order {place} is not an object") };
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
        let Some(field) = Field::parse(name.trim()) else {
            let name = quoted(&name, 40);
            if !ignored.contains(&name) {
                ignored.push(name);
            }
            continue;
        };
        let text = match value {
            Value::Null => continue,
            Value::String(text) => clean(&text).trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(is) => is.to_string(),
            Value::Array(_) | Value::Object(_) => bail!("{field} of order {place} must be a string or a number"),
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
    fn csv_and_json_give_the_same_order() {
        let csv = format!("{HEADER}77893,a@b.vn,A\u{202e}n\0,Delivered,2026-11-01,USD,Boots,129.90, x \n");
        let json = r#"[{"order_number": 77893, "customer_email": " a@b.vn", "customer_name": "A\u202en\u0000", "status": "Delivered",
            "ordered_at": "2026-11-01", "currency": "USD", "note": "x", "sku": null,
            "items": [{"item_name": "Boots", "unit_price": "129.90"}]}]"#;
        let (csv, json) = (read_csv(csv.as_bytes()).unwrap(), read_json(json.as_bytes()).unwrap());
        assert_eq!(csv.rows[0].fields, json.rows[0].fields);
        assert!(json.rows[0].fields.values().any(|text| text == "An"), "{:?}", json.rows[0]);
        assert_eq!((csv.rows[0].place, json.rows[0].place), (2, 1));
        let ignored = vec!["\"note\"".to_owned()];
        assert_eq!((csv.ignored_columns, json.ignored_columns), (ignored.clone(), ignored));
    }

    #[test]
    fn invalid_files_are_refused_with_the_reason() {
        for (file, says) in [
            ("", "the file is empty"),
            ("order_number,item_name\n", "missing: customer_email, customer_name, status"),
            ("order_number,item_name, \n", "; found: \"order_number\", \"item_name\", (no name)"),
            (&HEADER.replace("note", "Status"), "names the column status more than once"),
        ] {
            let error = format!("{:#}", read_csv(file.as_bytes()).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
        for (file, says) in [
            ("{}", "JSON array of orders"),
            ("[[]]", "order 1 is not an object"),
            ("[", "JSON array of orders"),
            (r#"[{"order_number": "77893"}]"#, "order 1 has no items"),
            (r#"[{"items": [1]}]"#, "an item of order 1 is not an object"),
            (r#"[{"order_number": {}, "items": [{}]}]"#, "order_number of order 1"),
        ] {
            let error = format!("{:#}", read_json(file.as_bytes()).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
        let ragged = read_csv(format!("{HEADER}77893,a@b.vn\n").as_bytes()).unwrap().ragged;
        assert_eq!((ragged.len(), ragged[0].line, ragged[0].first.as_str()), (1, 2, "77893"));
    }
}

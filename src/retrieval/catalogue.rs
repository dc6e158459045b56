//! CSV catalogues: each row becomes a chunk that names its columns.

use std::collections::{BTreeSet, HashSet};

use csv::{ReaderBuilder, StringRecord};

use super::chunk::{Chunk, Product};
use super::rules::{Column, ColumnKind, SearchRules};
use crate::domain::Language;

/// Parses the rows of a catalogue. Returns the chunks and the problems with their lines.
///
/// The separator is the most frequent of comma, semicolon and tab in the first line. A row with too few or too many
/// fields is reported and used as far as possible, and so is one with an unclear price. A row without a name is
/// reported and skipped, a row without values only skipped. A catalogue has no headings and therefore no keywords. A
/// column `specs_en` has the English text of the column `specs`.
pub fn rows(doc_id: &str, path: &str, text: &str, rules: &SearchRules) -> (Vec<Chunk>, Vec<(usize, String)>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter(text))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut complaints = Vec::new();
    let columns = match reader.headers() {
        Ok(headers) => columns(headers, rules),
        Err(error) => return (Vec::new(), vec![(1, error.to_string())]),
    };
    let (mut chunks, mut names) = (Vec::new(), HashSet::new());
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                complaints.push((error.position().map_or(0, line), error.to_string()));
                continue;
            }
        };
        let at = record.position().map_or(0, line);
        if record.len() != columns.len() {
            complaints.push((at, format!("{} fields under {} columns", record.len(), columns.len())));
        }
        let Some(row) = chunk(&columns, &record, rules) else { continue };
        if row.title.is_empty() {
            complaints.push((at, "the row has no name and is skipped".to_owned()));
            continue;
        }
        if !names.insert(row.title.clone()) {
            let name = &row.title;
            complaints.push((at, format!("another row is also named {name:?}: add what differs to the name")));
        }
        complaints.extend(unclear_price(&columns, &record).map(|problem| (at, problem)));
        chunks.push(Chunk { doc_id: doc_id.to_owned(), path: path.to_owned(), ..row });
    }
    (chunks, complaints)
}

fn line(position: &csv::Position) -> usize {
    usize::try_from(position.line()).unwrap_or_default()
}

fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default().as_bytes();
    let count = |byte: u8| first.iter().filter(|b| **b == byte).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|byte| count(*byte)).unwrap_or(b',')
}

/// A column of the file, with its rule.
struct Header {
    name: String,
    column: Column,
    /// The columns with its text in other languages.
    translations: Vec<(Language, usize)>,
    is_translation: bool,
}

/// A value of a row.
#[derive(Clone)]
struct Cell<'a> {
    header: &'a Header,
    value: &'a str,
    translations: Vec<(Language, &'a str)>,
}

impl Cell<'_> {
    fn text(&self, language: Option<Language>) -> &str {
        let translated = self.translations.iter().find(|(of, text)| Some(*of) == language && !text.is_empty());
        translated.map_or(self.value, |(_, text)| text)
    }
}

fn columns(headers: &StringRecord, rules: &SearchRules) -> Vec<Header> {
    let mut columns: Vec<Header> = headers
        .iter()
        .map(|name| {
            let known = rules.columns.iter().find(|column| column.headers.contains(&name.to_lowercase()));
            Header {
                name: name.replace('_', " "),
                column: known.cloned().unwrap_or_default(),
                translations: Vec::new(),
                is_translation: false,
            }
        })
        .collect();
    for (at, name) in headers.iter().enumerate() {
        let Some((base, code)) = name.rsplit_once('_') else { continue };
        let language = rules.languages.iter().map(|profile| profile.code).find(|known| known.code() == code);
        let translated = headers.iter().position(|other| other == base);
        if let (Some(language), Some(translated)) = (language, translated) {
            columns[translated].translations.push((language, at));
            columns[at].is_translation = true;
        }
    }
    // Without a name column, the first column is the title.
    if !columns.iter().any(|header| header.column.kind == ColumnKind::Name)
        && let Some(first) = columns.first_mut()
    {
        first.column.kind = ColumnKind::Name;
    }
    columns
}

fn chunk(columns: &[Header], record: &StringRecord, rules: &SearchRules) -> Option<Chunk> {
    let cells = columns.iter().zip(record).filter(|(header, value)| !header.is_translation && !value.is_empty());
    let cells: Vec<Cell<'_>> = cells
        .map(|(header, value)| {
            let translated = header.translations.iter();
            let translations = translated.filter_map(|(language, at)| Some((*language, record.get(*at)?))).collect();
            Cell { header, value, translations }
        })
        .collect();
    let of = |kind| cells.iter().filter(move |cell| cell.header.column.kind == kind).map(|cell| cell.value);
    if cells.is_empty() {
        return None;
    }
    let price = of(ColumnKind::Price).next().and_then(whole);
    let product = Product { price, in_stock: of(ColumnKind::Stock).next().and_then(whole) != Some(0) };
    let searched: Vec<&str> = of(ColumnKind::Text).collect();
    let languages: BTreeSet<Language> =
        cells.iter().flat_map(|cell| cell.header.column.labels.keys().copied()).collect();
    let known = rules.languages.iter().map(|profile| profile.code).find(|code| languages.contains(code));
    let first = known.or_else(|| languages.first().copied());
    Some(Chunk {
        title: of(ColumnKind::Name).collect::<Vec<_>>().join(" "),
        section_path: of(ColumnKind::Category).map(str::to_owned).collect(),
        text: read_out(&cells, first, rules),
        translated: languages.into_iter().map(|language| (language, read_out(&cells, Some(language), rules))).collect(),
        searched: Some(searched.join(". ")),
        product: Some(product),
        ..Chunk::default()
    })
}

/// Describes a price with digits that is not a whole amount. It is shown as written, and no budget finds it.
fn unclear_price(columns: &[Header], record: &StringRecord) -> Option<String> {
    let mut prices = columns.iter().zip(record).filter(|(header, _)| header.column.kind == ColumnKind::Price);
    let is_unclear = |price: &str| price.contains(|c: char| c.is_ascii_digit()) && whole(price).is_none();
    let (_, price) = prices.find(|(_, price)| is_unclear(price))?;
    Some(format!("the price {price:?} is not a whole amount: write it as 1890000 or 1.890.000"))
}

/// Writes the row as text: price and stock first, without name and category, which are the passage's title and section.
fn read_out(cells: &[Cell<'_>], language: Option<Language>, rules: &SearchRules) -> String {
    let mut cells = cells.to_vec();
    cells.sort_by_key(|cell| match cell.header.column.kind {
        ColumnKind::Price => 0,
        ColumnKind::Stock => 1,
        _ => 2,
    });
    let said = cells.iter().filter_map(|cell| {
        let (header, value) = (cell.header, cell.text(language));
        let Column { kind, labels, unit, none, .. } = &header.column;
        let word = |words: &std::collections::BTreeMap<Language, String>| language.and_then(|l| words.get(&l)).cloned();
        let amount = whole(value);
        let value = match (kind, amount) {
            (ColumnKind::Name | ColumnKind::Category | ColumnKind::Hidden, _) => return None,
            (ColumnKind::Stock, Some(0)) if word(none).is_some() => return word(none),
            (ColumnKind::Price, Some(amount)) => rules.grouped(amount),
            _ => value.to_owned(),
        };
        let label = word(labels).unwrap_or_else(|| header.name.clone());
        // An unclear price is shown as written.
        let unit = word(unit).filter(|_| *kind != ColumnKind::Price || amount.is_some());
        let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
        Some(format!("{label}: {value}{unit}"))
    });
    said.collect::<Vec<_>>().join("; ")
}

/// Parses a whole number, with thousands separators or as a spreadsheet writes it: `1890000`, `1.890.000`,
/// `1,890,000 đ`, `1890000.0`. Returns `None` if the number has decimals, or if it is unclear.
fn whole(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let mut groups: Vec<&str> = text.split(['.', ',', ' ']).collect();
    if groups.len() > 1 && groups.last().is_some_and(|last| matches!(*last, "0" | "00")) {
        groups.pop();
    }
    let (first, rest) = groups.split_first()?;
    let is_grouped = rest.is_empty() || first.len() <= 3 && rest.iter().all(|group| group.len() == 3);
    let digits = groups.concat();
    let is_number = is_grouped && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> SearchRules {
        SearchRules::read(&crate::persona::Prompts::shipped()).unwrap()
    }

    #[test]
    fn row_names_columns_in_the_requested_language() {
        let text = "sku;name;category;price_vnd;stock;warranty_months;Màu_sắc\nS1;SSD X;SSD;1890000;0;36;đen\n";
        let (rows, complaints) = rows("products", "products.csv", text, &rules());
        assert_eq!(complaints, []);
        let row = &rows[0];
        assert_eq!((row.title.as_str(), &*row.section()), ("SSD X", "SSD"));
        assert_eq!(row.text, "Giá: 1.890.000 đ; Hết hàng; Mã: S1; Bảo hành: 36 tháng; Màu sắc: đen");
        let english = &row.translated.iter().find(|(language, _)| *language == Language::EN).unwrap().1;
        assert_eq!(english, "Price: 1.890.000 đ; Out of stock; SKU: S1; Warranty: 36 months; Màu sắc: đen");
        assert_eq!(row.searched.as_deref(), Some("S1. đen"));
        assert_eq!(row.product, Some(Product { price: Some(1_890_000), in_stock: false }));
    }

    #[test]
    fn price_has_the_unit_of_the_rules() {
        let text = "thousands_separator = \",\"\n[columns.price]\nheaders = [\"price\"]\nkind = \"price\"\nlabels.en = \"Price\"\nunit.en = \"KSh\"";
        let languages = crate::persona::Prompts::shipped().languages().unwrap();
        let rules = SearchRules::new(&toml::from_str(text).unwrap(), languages).unwrap();
        let (rows, _) = rows("a", "a.csv", "name,price\nA,1250\nB,on request\nC,19.99\n", &rules);
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["Price: 1,250 KSh", "Price: on request", "Price: 19.99"]);
    }

    #[test]
    fn translated_column_is_shown_in_its_language() {
        let text = "name,specs,specs_en,note_en\nA,có dây,wired,new\nB,nhẹ,,\n";
        let (rows, complaints) = rows("a", "a.csv", text, &rules());
        assert_eq!(complaints, []);
        let english = |n: usize| &rows[n].translated.iter().find(|(language, _)| *language == Language::EN).unwrap().1;
        assert_eq!(rows[0].text, "Thông số: có dây; note en: new");
        assert_eq!([english(0), english(1)], ["Specifications: wired; note en: new", "Specifications: nhẹ"]);
        assert_eq!(rows[0].searched.as_deref(), Some("có dây. new"));
    }

    #[test]
    fn uneven_row_is_reported_and_used() {
        let (rows, complaints) = rows("a", "a.csv", "name,price\nA\nB,1.000,x\n,\n\"C, D\",\"2,500 đ\"\n", &rules());
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
        let said: Vec<_> = rows.iter().map(|row| (row.title.as_str(), row.text.as_str())).collect();
        assert_eq!(said, [("A", ""), ("B", "Giá: 1.000 đ"), ("C, D", "Giá: 2.500 đ")]);
    }

    #[test]
    fn whole_amounts_are_read_with_their_separators() {
        for (text, amount) in [
            ("1890000", Some(1_890_000)),
            ("1.890.000", Some(1_890_000)),
            ("1,890,000 đ", Some(1_890_000)),
            ("1 890 000", Some(1_890_000)),
            ("2190000.0", Some(2_190_000)),
            ("2,190,000.00", Some(2_190_000)),
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("19.99", None),
            ("2190000.5", None),
            ("2190000.000", None),
            ("1.89", None),
            ("1.0000", None),
            ("1.000 - 2.000", None),
            (".5", None),
            ("", None),
        ] {
            assert_eq!(whole(text), amount, "{text:?}");
        }
    }

    #[test]
    fn repeated_name_is_reported() {
        let (rows, complaints) = rows("a", "a.csv", "name,price\nA,1000\nB,1000\nA,2000\n", &rules());
        assert_eq!((rows.len(), complaints.len(), complaints[0].0), (3, 1, 4), "{complaints:?}");
    }

    #[test]
    fn unclear_prices_and_nameless_rows_are_reported() {
        let text = "name,category,price\nA,SSD,19.99\n,SSD,1000\nC,SSD,ask us\n";
        let (rows, complaints) = rows("a", "a.csv", text, &rules());
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3], "{complaints:?}");
        let said: Vec<_> = rows.iter().map(|row| (row.title.as_str(), row.text.as_str())).collect();
        assert_eq!(said, [("A", "Giá: 19.99"), ("C", "Giá: ask us")]);
    }
}

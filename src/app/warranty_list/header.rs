//! Which column of the list holds what.

/// The columns a list must have, in the order in which its header is best written.
pub const COLUMNS: [&str; 3] = ["serial", "product_name", "warranty_end_date"];

/// Where the columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    pub serial: usize,
    pub product_name: usize,
    pub warranty_end_date: usize,
    /// How many columns the header has.
    pub width: usize,
    /// The names of the columns that are not ours, as they are written.
    pub ignored: Vec<String>,
}

/// Why a header does not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error(
        "the first line must name the columns serial, product_name and warranty_end_date, in any order; \
         missing: {}; found: {}", .missing.join(", "), .found.join(", ")
    )]
    Missing { missing: Vec<&'static str>, found: Vec<String> },
    #[error("the first line names the column {0} more than once; rename or delete all but one")]
    Twice(&'static str),
}

impl Columns {
    /// Finds the columns by name; white space around a name, and upper or lower case, do not count.
    pub fn find(header: &[&str]) -> Result<Self, HeaderError> {
        let mut places = [None; 3];
        let mut ignored = Vec::new();
        for (index, field) in header.iter().enumerate() {
            match COLUMNS.iter().zip(&mut places).find(|(name, _)| is_named(field, name)) {
                None => ignored.push(shown(field)),
                Some((_, place @ None)) => *place = Some(index),
                Some((name, Some(_))) => return Err(HeaderError::Twice(name)),
            }
        }
        match places {
            [Some(serial), Some(product_name), Some(warranty_end_date)] => {
                Ok(Self { serial, product_name, warranty_end_date, width: header.len(), ignored })
            }
            _ => Err(HeaderError::Missing {
                missing: COLUMNS.into_iter().zip(places).filter(|(_, place)| place.is_none()).map(|(n, _)| n).collect(),
                found: header.iter().take(20).map(|field| shown(field)).collect(),
            }),
        }
    }

    /// How many of the fields name a column of ours.
    pub fn known_among(header: &[&str]) -> usize {
        header.iter().filter(|field| COLUMNS.iter().any(|name| is_named(field, name))).count()
    }
}

fn is_named(field: &str, name: &str) -> bool {
    field.trim().eq_ignore_ascii_case(name)
}

/// A name as it is reported: trimmed, short, and on one line.
fn shown(field: &str) -> String {
    let name = field.trim();
    if name.is_empty() { "(no name)".to_owned() } else { super::refusals::quoted(name, 40) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_in_any_order_and_others_are_named() {
        let columns = Columns::find(&["Giá", " WARRANTY_END_DATE", "serial", "", "Product_Name "]).unwrap();
        let ignored = vec!["\"Giá\"".to_owned(), "(no name)".to_owned()];
        assert_eq!(columns, Columns { serial: 2, product_name: 4, warranty_end_date: 1, width: 5, ignored });
    }

    #[test]
    fn a_header_that_does_not_do_says_what_is_missing_and_what_was_found() {
        let missing = Columns::find(&["serial", "name", "warranty_end_date"]).unwrap_err().to_string();
        assert!(missing.contains("missing: product_name; found: \"serial\", \"name\""), "{missing}");
        let twice = Columns::find(&["serial", "Serial", "product_name", "warranty_end_date"]).unwrap_err();
        assert_eq!(twice, HeaderError::Twice("serial"));
    }
}

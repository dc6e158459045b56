//! Reading JSON without guessing: a name that stands twice in an object is refused, since two readers may take different
//! ones of the two values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How deep objects and arrays may stand in each other: far more than anybody means, and well within what the parser and
/// the databases take.
const DEEPEST: usize = 64;

/// Reads one JSON value, and nothing behind it.
///
/// # Errors
/// Of the category `Data`: a name twice in one object, or too deep. Of another one: this is no JSON.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { deeper: DEEPEST }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    deeper: usize,
}

impl Strict {
    fn inside<E: Error>(self) -> Result<Self, E> {
        match self.deeper.checked_sub(1) {
            Some(deeper) => Ok(Self { deeper }),
            None => Err(E::custom(format_args!("the body is nested deeper than {DEEPEST} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom("a name stands twice in one object"));
            }
            let value = members.next_value_seed(inside)?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::error::Category;

    use super::*;

    #[test]
    fn what_serde_json_reads_is_read_the_same() {
        let text = r#"{"a":[1,-2,3.5,true,null,"ế\u00e9"],"b":{"c":{}},"d":18446744073709551615}"#;
        assert_eq!(parse(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_name_twice_and_deep_nesting_are_json_that_is_not_taken() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(nested(DEEPEST).as_bytes()).is_ok());
        for text in [r#"{"a":1,"a":1}"#.to_owned(), r#"[{"b":{"a":1,"\u0061":2}}]"#.to_owned(), nested(DEEPEST + 1)] {
            assert_eq!(parse(text.as_bytes()).unwrap_err().classify(), Category::Data, "{text}");
        }
        assert_eq!(parse(nested(100_000).as_bytes()).unwrap_err().classify(), Category::Data);
    }

    #[test]
    fn what_is_no_json_is_told_apart() {
        for bad in [r#"{"a":1} x"#, r#"{"a":"\ud800"}"#, "{", "", "nul", "{'a':1}", "NaN"] {
            assert_ne!(parse(bad.as_bytes()).unwrap_err().classify(), Category::Data, "{bad}");
        }
        assert_ne!(parse(b"{\"a\":\"\xff\"}").unwrap_err().classify(), Category::Data);
    }
}

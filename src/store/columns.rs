//! Values between our types and the columns that hold them.

use serde_json::{Map, Value};

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Turn and event numbers are counted from 0 and stay far below 2³¹.
pub(super) fn to_db(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

pub(super) fn from_db(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

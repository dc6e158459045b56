//! Statements for many rows whose SQL is written out: building it from entities costs more than running it.

use sea_orm::{DbBackend, Statement, Value};
use serde::Serialize;
use serde_json::Value as Json;

/// Returns the statement with placeholders for the rows in place of `{rows}`. The values of the placeholders after them are
/// `others`.
pub(super) fn with_rows<const N: usize>(
    backend: DbBackend,
    sql: &str,
    rows: Vec<[Value; N]>,
    others: impl IntoIterator<Item = Value>,
) -> Statement {
    let mut placeholders = String::with_capacity(rows.len() * (3 * N + 2));
    for row in 0..rows.len() {
        placeholders.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..N {
            if column > 0 {
                placeholders.push(',');
            }
            match backend {
                DbBackend::Postgres => placeholders += &format!("${}", row * N + column + 1),
                _ => placeholders.push('?'),
            }
        }
        placeholders.push(')');
    }
    let values = rows.into_iter().flatten().chain(others);
    Statement::from_sql_and_values(backend, sql.replace("{rows}", &placeholders), values)
}

/// Returns the value of a JSON column. SQLite stores JSON as text.
pub(super) fn json(backend: DbBackend, value: &impl Serialize) -> Value {
    match backend {
        DbBackend::Sqlite => serde_json::to_string(value).unwrap_or_default().into(),
        _ => serde_json::to_value(value).unwrap_or_default().into(),
    }
}

/// Returns the value of a JSON column that may be null.
pub(super) fn json_or_null(backend: DbBackend, value: Option<&Json>) -> Value {
    value.map_or_else(|| None::<Json>.into(), |value| json(backend, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_follow_the_backend() {
        let rows = || vec![[Value::from(1), "a".into()], [2.into(), "b".into()]];
        let sql = |backend| with_rows(backend, "VALUES {rows};", rows(), [3.into()]);
        assert_eq!(sql(DbBackend::Sqlite).sql, "VALUES (?,?),(?,?);");
        assert_eq!(sql(DbBackend::Postgres).sql, "VALUES ($1,$2),($3,$4);");
        assert_eq!(sql(DbBackend::Sqlite).values.unwrap().0.len(), 5);
    }
}

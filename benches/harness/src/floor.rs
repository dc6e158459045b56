//! The rows of one stored turn, written through rusqlite again and again: what a turn costs at least.
//!
//! The turn is one that the server itself stored. Its rows go into the server's own schema with new keys, in the two
//! commits that a turn needs: the customer's message before it runs, everything else after it.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};
use serde_json::json;

/// The tables that hold a turn.
const TABLES: [&str; 3] = ["turns", "messages", "events"];

#[derive(clap::Args)]
pub struct Args {
    /// A copy of the server's database. Its last turn is taken.
    #[arg(long)]
    database: PathBuf,
    #[arg(long, default_value_t = 1000)]
    turns: i64,
    /// The serial number that each turn looks up.
    #[arg(long)]
    serial: String,
}

#[derive(clap::Args)]
pub struct FillArgs {
    /// The server's database, while the server does not run. Its last turn is taken.
    #[arg(long)]
    database: PathBuf,
    /// How many turns are stored in all; a conversation has ten.
    #[arg(long)]
    turns: i64,
}

/// A stored turn as a template.
struct Turn {
    turn: Rows,
    /// The customer's message.
    asked: Rows,
    /// The assistant's messages.
    answered: Rows,
    events: Rows,
    conversation: Value,
}

/// Rows of one table.
struct Rows {
    insert: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    fn read(database: &Connection, table: &str, filter: &str, conversation: &Value) -> Result<Self> {
        let mut select = database.prepare(&format!("SELECT * FROM {table} WHERE {filter}"))?;
        let columns: Vec<String> = select.column_names().iter().map(ToString::to_string).collect();
        let rows: Vec<Vec<Value>> = select
            .query_map([conversation], |row| (0..columns.len()).map(|at| row.get(at)).collect())?
            .collect::<rusqlite::Result<_>>()?;
        ensure!(!rows.is_empty(), "no rows in {table}: run a turn first");
        let values = format!("({})", vec!["?"; columns.len()].join(","));
        let insert = format!("INSERT INTO {table} VALUES {}", vec![values; rows.len()].join(","));
        Ok(Self { insert, columns, rows })
    }

    /// Writes the rows with other values in some columns, in one statement.
    fn write(&self, database: &Connection, change: impl Fn(&str) -> Option<Value>) -> Result<()> {
        let values = self.rows.iter().flat_map(|row| {
            self.columns.iter().zip(row).map(|(column, value)| change(column).unwrap_or_else(|| value.clone()))
        });
        database.prepare_cached(&self.insert)?.execute(params_from_iter(values))?;
        Ok(())
    }
}

/// Keys that rise, as the server's do.
struct Keys(u128);

impl Keys {
    fn next(&mut self) -> Value {
        self.0 += 1;
        Value::Blob(self.0.to_be_bytes().to_vec())
    }
}

impl Turn {
    fn read(database: &Connection) -> Result<Self> {
        let last = "SELECT conversation_id FROM turns WHERE status = 'completed' ORDER BY accepted_at DESC LIMIT 1";
        let conversation: Value =
            database.query_row(last, [], |row| row.get(0)).context("the database has no completed turn")?;
        let of_turn = "conversation_id = ?1 AND turn = (SELECT max(turn) FROM turns WHERE conversation_id = ?1)";
        let read = |table, sender: &str| Rows::read(database, table, &format!("{of_turn}{sender}"), &conversation);
        Ok(Self {
            turn: read("turns", "")?,
            asked: read("messages", " AND sender = 'user'")?,
            answered: read("messages", " AND sender = 'assistant'")?,
            events: read("events", "")?,
            conversation,
        })
    }

    /// The first commit of a turn.
    fn accept(&self, database: &mut Connection, conversation: &Value, number: i64, keys: &mut Keys) -> Result<()> {
        let commit = database.transaction()?;
        self.store_message(&commit, conversation, number, keys)?;
        commit
            .prepare_cached("UPDATE conversations SET last_turn = ?2, last_activity_at = ?3 WHERE id = ?1")?
            .execute((conversation, number, "2026-01-01T00:00:00.000000+00:00"))?;
        Ok(commit.commit()?)
    }

    /// The second commit of a turn.
    fn answer(&self, database: &mut Connection, conversation: &Value, number: i64, keys: &mut Keys) -> Result<()> {
        let commit = database.transaction()?;
        self.store_answer(&commit, conversation, number, keys)?;
        commit
            .prepare_cached("UPDATE turns SET status = 'completed', ended_at = ?3, events = ?4 WHERE conversation_id = ?1 AND turn = ?2")?
            .execute((conversation, number, "2026-01-01T00:00:00.000000+00:00", self.events.rows.len() as i64))?;
        commit
            .prepare_cached("UPDATE conversations SET last_event_turn = ?2, last_event_n = ?3 WHERE id = ?1")?
            .execute((conversation, number, self.events.rows.len() as i64))?;
        Ok(commit.commit()?)
    }

    fn store_message(&self, database: &Connection, conversation: &Value, number: i64, keys: &mut Keys) -> Result<()> {
        let id = keys.next();
        let change = |column: &str| match column {
            "conversation_id" => Some(conversation.clone()),
            "turn" => Some(number.into()),
            "id" | "message_id" => Some(id.clone()),
            _ => None,
        };
        self.asked.write(database, change)?;
        self.turn.write(database, change)
    }

    fn store_answer(&self, database: &Connection, conversation: &Value, number: i64, keys: &mut Keys) -> Result<()> {
        let keys = std::cell::RefCell::new(keys);
        let change = |column: &str| match column {
            "conversation_id" => Some(conversation.clone()),
            "turn" => Some(number.into()),
            "id" => Some(keys.borrow_mut().next()),
            _ => None,
        };
        self.events.write(database, change)?;
        self.answered.write(database, change)
    }
}

pub fn run(args: &Args) -> Result<()> {
    let mut database = open(&args.database)?;
    let turn = Turn::read(&database)?;
    for table in TABLES {
        database.execute(&format!("DELETE FROM {table}"), [])?;
    }
    let mut keys = Keys(1 << 64);
    let began = Instant::now();
    for number in 1..=args.turns {
        turn.accept(&mut database, &turn.conversation, number, &mut keys)?;
        let found: Option<String> = database
            .prepare_cached("SELECT product_name FROM warranty_records WHERE serial = ?1")?
            .query_row([&args.serial], |row| row.get(0))
            .optional()?;
        ensure!(found.is_some(), "{} is not in the database", args.serial);
        turn.answer(&mut database, &turn.conversation, number, &mut keys)?;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{}", json!({"seconds": seconds, "turns": args.turns}));
    Ok(())
}

pub fn fill(args: &FillArgs) -> Result<()> {
    let mut database = open(&args.database)?;
    let turn = Turn::read(&database)?;
    let template = Rows::read(&database, "conversations", "id = ?1", &turn.conversation)?;
    let mut keys = Keys(1 << 64);
    let commit = database.transaction()?;
    for conversation in 0..args.turns / 10 {
        let id = keys.next();
        let change = |column: &str| match column {
            "id" => Some(id.clone()),
            // A conversation's user and session are unique.
            "user_id" => Some(Value::Text(format!("customer-{conversation}"))),
            "session_id" => Some(Value::Null),
            "last_turn" | "last_event_turn" => Some(Value::Integer(10)),
            _ => None,
        };
        template.write(&commit, change)?;
        for number in 1..=10 {
            turn.store_message(&commit, &id, number, &mut keys)?;
            turn.store_answer(&commit, &id, number, &mut keys)?;
        }
    }
    commit.commit()?;
    let bytes: i64 =
        database.query_row("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", [], |row| {
            row.get(0)
        })?;
    println!("{}", json!({"bytes": bytes, "turns": args.turns / 10 * 10}));
    Ok(())
}

/// The pragmas of the server.
fn open(path: &PathBuf) -> Result<Connection> {
    let database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "normal")?;
    Ok(database)
}

//! Handoffs to a person, searchable messages, and the figures of each turn.

use sea_orm_migration::sea_orm::prelude::Uuid;

use super::*;
use crate::domain::text::fold;

/// The number of rows to fold at a time.
const AT_ONCE: u64 = 1000;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let epoch = "1970-01-01T00:00:00+00:00";
    let columns = [
        ("conversations", string_null("agent")),
        ("conversations", timestamp_with_time_zone_null("waiting_since")),
        ("conversations", timestamp_with_time_zone("last_activity_at").default(epoch).take()),
        ("conversations", text("folded_user").default("").take()),
        ("messages", text("folded").default("").take()),
        ("turns", string("sender").default("user").take()),
        ("turns", string_null("intent")),
        ("turns", string_null("kind")),
        ("turns", integer_null("first_text_ms")),
        ("turns", boolean("asked_person").default(false).take()),
        ("turns", boolean("model_failed").default(false).take()),
    ];
    for (table, column) in columns {
        add_column(manager, table, column).await?;
    }
    fill(manager).await?;
    let by_activity = ["tenant_id", "last_activity_at"];
    index(manager, "conversations", "conversations_by_activity", &by_activity, false).await?;
    let by_status = ["tenant_id", "status", "last_activity_at"];
    index(manager, "conversations", "conversations_by_status", &by_status, false).await?;
    index(manager, "turns", "turns_by_day", &["tenant_id", "accepted_at"], false).await
}

/// Fills the new columns of existing rows.
async fn fill(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    connection
        .execute_unprepared(
            "UPDATE conversations SET last_activity_at = COALESCE(\
               (SELECT MAX(m.created_at) FROM messages m WHERE m.conversation_id = conversations.id), created_at)",
        )
        .await?;
    // The kind of a turn is that of its main message.
    let kind = match manager.get_database_backend() {
        DbBackend::Postgres => "m.metadata->>'type'",
        _ => "json_extract(m.metadata, '$.type')",
    };
    let said = format!(
        "UPDATE turns SET kind = (SELECT {kind} FROM messages m WHERE m.conversation_id = turns.conversation_id \
           AND m.turn = turns.turn AND m.sender = 'assistant' \
           AND {kind} NOT IN ('language_ack', 'cute_greeting', 'follow_up') ORDER BY m.position LIMIT 1)"
    );
    connection.execute_unprepared(&said).await?;
    fold_all(manager, "messages", "text", "folded").await?;
    fold_all(manager, "conversations", "user_id", "folded_user").await
}

/// Folds a column into another, row by row, because neither database can do it.
async fn fold_all(
    manager: &SchemaManager<'_>,
    table: &'static str,
    from: &'static str,
    to: &'static str,
) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    let mut after = Uuid::nil();
    loop {
        let select = Query::select()
            .columns(["id", from])
            .from(table)
            .and_where(Expr::col("id").gt(after))
            .and_where(Expr::col(from).is_not_null())
            .order_by("id", Order::Asc)
            .limit(AT_ONCE)
            .to_owned();
        let rows = connection.query_all(&select).await?;
        for row in &rows {
            after = row.try_get::<Uuid>("", "id")?;
            let folded = fold(&row.try_get::<String>("", from)?);
            let update = Query::update().table(table).value(to, folded).and_where(Expr::col("id").eq(after)).to_owned();
            connection.execute(&update).await?;
        }
        if rows.is_empty() {
            return Ok(());
        }
    }
}

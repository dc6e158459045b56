//! The return that a ticket requests, and the payload of jobs.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for (table, column) in [("tickets", json_binary_null("claim")), ("jobs", json_binary_null("payload"))] {
        add_column(manager, table, column).await?;
    }
    Ok(())
}

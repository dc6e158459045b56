//! Due jobs by their name: those that wait for a service do not slow down the search for others.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    index(manager, "jobs", "jobs_due_by_name", &["kind", "dead", "run_at", "subject"], false).await?;
    index(manager, "jobs", "jobs_of_conversation_by_name", &["conversation_id", "kind", "dead"], false).await?;
    // SQLite would choose the first one, and read the jobs of all names.
    for old in ["jobs_due", "jobs_of_conversation"] {
        manager.drop_index(Index::drop().name(old).table("jobs").to_owned()).await?;
    }
    Ok(())
}

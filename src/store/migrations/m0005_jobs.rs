//! Background jobs, stored in the commit that they follow from.

use super::*;

pub(super) async fn up(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let columns = [
        string("kind"),
        string("subject"),
        string("tenant_id"),
        uuid_null("conversation_id"),
        timestamp_with_time_zone("created_at"),
        timestamp_with_time_zone("run_at"),
        boolean("leased").default(false).take(),
        integer("attempts").default(0).take(),
        boolean("dead").default(false).take(),
        text_null("error"),
    ];
    create_table(manager, "jobs", &["kind", "subject"], columns).await?;
    // The worker queries due jobs, oldest first.
    index(manager, "jobs", "jobs_due", &["dead", "run_at"], false).await?;
    index(manager, "jobs", "jobs_of_conversation", &["conversation_id"], false).await
}

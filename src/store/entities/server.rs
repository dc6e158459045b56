//! What belongs to the server itself: jobs, mails, logs, settings and vectors.

table! {
    /// A background job, stored in the commit that it follows from.
    jobs "jobs" [kind: String, subject: String] {
        pub tenant_id: String,
        pub conversation_id: Option<Uuid>,
        pub created_at: DateTimeUtc,
        pub run_at: DateTimeUtc,
        pub leased: bool,
        pub attempts: i32,
        pub dead: bool,
        pub error: Option<String>,
        /// The job's data, if its subject is not enough.
        pub payload: Option<Json>,
    }
}

table! {
    /// A set of vectors that are searched together.
    vector_collections "vector_collections" [tenant_id: String, name: String] {
        pub model: String,
        pub dimension: i32,
        /// Identifies this instance of the collection: a dropped and recreated collection has a new one.
        pub generation: Uuid,
        /// The number of transactions that have written to it.
        pub version: i64,
        /// The last version that removed vectors.
        pub removed_version: i64,
    }
}

table! {
    /// The vector of a text, as little-endian `f32` numbers.
    vectors "vectors" [tenant_id: String, collection: String, id: String] {
        pub conversation_id: Option<String>,
        /// The collection's version when the row was written.
        pub version: i64,
        pub vector: Vec<u8>,
        pub text: String,
        pub metadata: Json,
    }
}

table! {
    /// An e-mail to a customer. `number` is its Message-ID, and `context` fills its template.
    mails "mails" [id: Uuid] {
        pub tenant_id: String,
        pub number: String,
        pub conversation_id: Option<Uuid>,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub recipient: String,
        pub template: String,
        pub language: String,
        pub context: Json,
        pub status: String,
        pub preview: Option<String>,
        pub error: Option<String>,
        pub created_at: DateTimeUtc,
        pub sent_at: Option<DateTimeUtc>,
    }
}

table! {
    /// A change and who made it. Ids are UUIDv7, so they sort by time.
    audit "audit" [id: Uuid] {
        pub tenant_id: String,
        pub kind: String,
        pub who: String,
        pub what: String,
        pub before: Option<Json>,
        pub after: Option<Json>,
        pub conversation_id: Option<Uuid>,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub at: DateTimeUtc,
        /// The account that the change is about.
        pub user_id: Option<String>,
    }
}

table! {
    /// A person's action at the console. Ids are UUIDv7, so they sort by time.
    console_audit "console_audit" [id: Uuid] {
        pub tenant_id: String,
        pub who: String,
        pub what: String,
        pub client: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub subject: Option<String>,
        pub detail: Option<String>,
        pub at: DateTimeUtc,
    }
}

table! {
    /// A version of a persona's file. Versions are counted from 1; only the newest are kept.
    persona_versions "persona_versions" [tenant_id: String, persona: String, version: i32] {
        pub text: String,
        pub saved_at: DateTimeUtc,
        pub saved_by: Option<String>,
    }
}

table! {
    /// A console session that was signed out before it expired.
    revoked_sessions "revoked_sessions" [tenant_id: String, session: String] {
        pub expires_at: DateTimeUtc,
    }
}

table! {
    /// The server's own settings, such as the signing secret.
    settings "settings" [tenant_id: String, name: String] {
        pub value: String,
    }
}

//! Conversations and their turns.

table! {
    /// A conversation. `last_turn` is the number of the last accepted turn, and `last_event_*` is the last event of the
    /// last turn that ended. `state` is the desk's memory. `folded_user` is the user's id prepared for search.
    /// `visitor`: a page opened the conversation without a key. `session_id`: the caller's name of a conversation of `POST /chat`.
    conversations "conversations" [id: Uuid] {
        pub tenant_id: String,
        pub user_id: Option<String>,
        pub persona: String,
        pub preferred_language: String,
        pub language_source: String,
        pub status: String,
        pub created_at: DateTimeUtc,
        pub metadata: Json,
        pub last_turn: i32,
        pub last_event_turn: i32,
        pub last_event_n: i32,
        pub state: Json,
        pub agent: Option<String>,
        pub waiting_since: Option<DateTimeUtc>,
        pub last_activity_at: DateTimeUtc,
        pub folded_user: String,
        pub visitor: bool,
        pub session_id: Option<String>,
        /// The channel, or null for the web.
        pub channel: Option<String>,
    }
}

table! {
    /// A message. The history is sorted by (`turn`, `position`); `folded` is the text prepared for search.
    messages "messages" [id: Uuid] {
        pub tenant_id: String,
        pub conversation_id: Uuid,
        pub turn: i32,
        pub position: i32,
        pub sender: String,
        pub text: String,
        pub created_at: DateTimeUtc,
        pub metadata: Json,
        pub receipt: Option<Json>,
        pub folded: String,
    }
}

table! {
    /// A turn. `events` is the number of events that it had when it ended; the row is kept after they are removed.
    turns "turns" [conversation_id: Uuid, turn: i32] {
        pub tenant_id: String,
        pub message_id: Uuid,
        pub status: String,
        pub accepted_at: DateTimeUtc,
        pub started_at: Option<DateTimeUtc>,
        pub ended_at: Option<DateTimeUtc>,
        pub timings: Json,
        pub events: i32,
        pub cancel_requested: bool,
        /// Whether its events are still stored.
        pub events_kept: bool,
        /// Who wrote the message that started it.
        pub sender: String,
        pub intent: Option<String>,
        /// The kind of the main message, or null if the turn sent none.
        pub kind: Option<String>,
        pub first_text_ms: Option<i32>,
        pub asked_person: bool,
        pub model_failed: bool,
    }
}

table! {
    /// An event. `body` is the JSON of the SSE frame exactly as clients receive it.
    events "events" [conversation_id: Uuid, turn: i32, n: i32] {
        pub tenant_id: String,
        pub body: String,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// The result of a request with an `Idempotency-Key`. `scope` is the conversation, or empty for its creation.
    idempotency_keys "idempotency_keys" [tenant_id: String, scope: String, key: String] {
        pub body_hash: String,
        pub conversation_id: Uuid,
        pub turn: i32,
        pub message_id: Uuid,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// A shop's number of turns on a day (UTC).
    daily_turns "daily_turns" [tenant_id: String, day: Date] {
        pub turns: i32,
    }
}

table! {
    /// The delivery of a message over a channel. `status` is about the part `part` of `parts`; `parts` is 0 before the first attempt.
    deliveries "deliveries" [message_id: Uuid] {
        pub tenant_id: String,
        pub conversation_id: Uuid,
        pub turn: i32,
        pub position: i32,
        pub purpose: String,
        pub status: String,
        pub part: i32,
        pub parts: i32,
        /// The provider's id of the part.
        pub reference: Option<String>,
        pub error: Option<String>,
        pub attempted_at: Option<DateTimeUtc>,
        pub created_at: DateTimeUtc,
        pub updated_at: DateTimeUtc,
    }
}

table! {
    /// A customer of a channel: the last conversation, and when the customer last wrote.
    channel_sessions "channel_sessions" [tenant_id: String, channel: String, address: String] {
        pub conversation_id: Uuid,
        pub received_at: DateTimeUtc,
    }
}

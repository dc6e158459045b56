//! Telecom accounts and refund cases.

table! {
    /// A plan of a telecom operator. `price_monthly` is in grosze.
    plans "plans" [tenant_id: String, code: String] {
        pub name: String,
        pub price_monthly: i64,
    }
}

table! {
    /// A customer's plan.
    subscriptions "subscriptions" [tenant_id: String, user_id: String] {
        pub plan_code: String,
        pub status: String,
        pub start_date: Date,
    }
}

table! {
    /// An invoice to a customer. `amount` is in grosze. `user_id` is null after the customer's erasure.
    invoices "invoices" [tenant_id: String, number: String] {
        pub user_id: Option<String>,
        pub amount: i64,
        pub issued_on: Date,
    }
}

table! {
    /// A refund case. `amount` is in grosze, and `eta` is the day by which the shop decides.
    refund_cases "refund_cases" [tenant_id: String, number: i32] {
        pub user_id: Option<String>,
        pub invoice_number: String,
        pub reason: String,
        pub amount: i64,
        pub description: Option<String>,
        pub status: String,
        pub eta: Date,
        pub conversation_id: Option<Uuid>,
        pub opened_at: DateTimeUtc,
        pub decided_by: Option<String>,
        pub decided_why: Option<String>,
        pub decided_at: Option<DateTimeUtc>,
    }
}

table! {
    /// The number of a shop's last refund case.
    case_numbers "case_numbers" [tenant_id: String] {
        pub last: i32,
    }
}

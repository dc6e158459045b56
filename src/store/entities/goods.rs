//! Orders, returns and warranties; telecom accounts and refund cases.

table! {
    /// A customer of a shop. `user_id` is the customer's id in the shop's own system.
    customers "customers" [id: Uuid] {
        pub tenant_id: String,
        pub name: String,
        pub email: String,
        pub phone: Option<String>,
        pub user_id: Option<String>,
        pub is_vip: bool,
        pub fraud_flag: bool,
    }
}

table! {
    /// An order. `paid` is in minor units of `currency`.
    orders "orders" [tenant_id: String, number: String] {
        pub customer_id: Uuid,
        pub email: String,
        pub phone: Option<String>,
        pub status: String,
        pub currency: String,
        pub paid: i64,
        pub ordered_at: DateTimeUtc,
        pub shipped_at: Option<DateTimeUtc>,
        pub delivered_at: Option<DateTimeUtc>,
        pub tracking: Option<String>,
    }
}

table! {
    /// A line of an order. `unit_price` is in minor units of the order's currency.
    order_items "order_items" [tenant_id: String, order_number: String, line: i32] {
        pub sku: Option<String>,
        pub name: String,
        pub category: Option<String>,
        pub quantity: i32,
        pub unit_price: i64,
        pub is_returnable: bool,
        pub is_final_sale: bool,
    }
}

table! {
    /// The failed attempts to prove whose order or account it is, for one subject.
    order_misses "order_misses" [tenant_id: String, subject: String] {
        pub misses: i32,
        pub last_at: DateTimeUtc,
        pub locked_until: Option<DateTimeUtc>,
    }
}

table! {
    /// A return policy of a shop. `category` is set where `scope` is `category`.
    return_policies "return_policies" [tenant_id: String, name: String] {
        pub scope: String,
        pub category: Option<String>,
        pub return_days: i32,
        pub refund_days: Option<i32>,
    }
}

table! {
    /// A return merchandise authorization. `refund` is in minor units of `currency`.
    rmas "rmas" [id: Uuid] {
        pub tenant_id: String,
        pub number: String,
        pub order_number: String,
        pub customer_id: Uuid,
        pub action: String,
        pub status: String,
        pub currency: String,
        pub refund: i64,
        pub reason: String,
        pub reason_code: String,
        pub escalated: bool,
        pub escalation_reason: Option<String>,
        pub escalation_ticket: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub created_at: DateTimeUtc,
        pub updated_at: DateTimeUtc,
    }
}

table! {
    /// A line of the order that is returned, and its refund.
    rma_items "rma_items" [rma_id: Uuid, line: i32] {
        pub tenant_id: String,
        pub amount: i64,
    }
}

table! {
    /// The return label of an RMA.
    labels "labels" [rma_id: Uuid] {
        pub tenant_id: String,
        pub tracking: String,
        pub created_at: DateTimeUtc,
    }
}

table! {
    /// A request to the shop. There is one row per `idempotency_key`.
    tickets "tickets" [tenant_id: String, id: String] {
        pub kind: String,
        pub idempotency_key: String,
        pub request: String,
        pub order_number: Option<String>,
        pub rma_number: Option<String>,
        pub conversation_id: Option<Uuid>,
        pub priority: Option<String>,
        pub reason: String,
        pub summary: String,
        /// The return that a person decides on.
        pub claim: Option<Json>,
        pub created_at: DateTimeUtc,
        pub resolution: Option<String>,
        pub resolved_by: Option<String>,
        pub resolved_why: Option<String>,
        pub resolved_at: Option<DateTimeUtc>,
    }
}

table! {
    /// The warranty of one product. `serial` is in upper case.
    warranty_records "warranty_records" [tenant_id: String, serial: String] {
        pub product_name: String,
        pub warranty_end_date: Date,
    }
}

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

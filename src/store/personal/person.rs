//! Finds the rows that belong to one customer.

use std::collections::BTreeSet;

use sea_orm::sea_query::{ExprTrait, Value};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use uuid::Uuid;

use super::tables::Key;
use crate::domain::identity::Email;
use crate::domain::identity::attempts::AttemptSubject;
use crate::domain::text::fold;
use crate::domain::{ConversationId, Sender, TenantId};
use crate::store::entities::{
    TenantEntity, audit, conversations, customers, invoices, mails, messages, orders, payment_requests, refund_cases,
    rmas, sales, shoppers, subscriptions, tickets,
};
use crate::store::returns::escalate::JOINED;
use crate::store::returns::overview::withholds_order;
use crate::store::{Result, TenantStore};

/// The number of values in one statement. SQLite accepts 32,766 in total.
pub(super) const VALUES_AT_ONCE: usize = 500;

/// How a customer is identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// The id in the shop's own system: the `user_id` of conversations and customers.
    User(String),
    Email(Email),
}

/// The keys of the rows that belong to one customer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    pub users: BTreeSet<String>,
    pub emails: BTreeSet<String>,
    pub conversations: BTreeSet<Uuid>,
    /// The numbers of mails, which are also the names of their files.
    pub mail_numbers: BTreeSet<String>,
    customers: BTreeSet<Uuid>,
    orders: BTreeSet<String>,
    rmas: BTreeSet<Uuid>,
    rma_numbers: BTreeSet<String>,
    /// Tickets that other conversations opened.
    tickets: BTreeSet<String>,
    mails: BTreeSet<Uuid>,
    shoppers: BTreeSet<Uuid>,
    sales: BTreeSet<String>,
    /// Whether a telecom account or a payment has the customer's user id.
    has_rows_of_user: bool,
}

impl Person {
    /// Returns a person with only these conversations.
    pub(in crate::store) fn of_conversations(ids: impl IntoIterator<Item = ConversationId>) -> Self {
        Self { conversations: ids.into_iter().map(|id| id.0).collect(), ..Self::default() }
    }

    /// Whether the store has no rows of the customer.
    pub fn is_unknown(&self) -> bool {
        !self.has_rows_of_user
            && self.conversations.is_empty()
            && self.customers.is_empty()
            && self.orders.is_empty()
            && self.mails.is_empty()
            && self.shoppers.is_empty()
    }

    /// Adds the tickets that the conversations joined, because they contain words of these conversations, too.
    pub(in crate::store) async fn add_joined_tickets(
        &mut self,
        connection: &impl ConnectionTrait,
        tenant: &TenantId,
    ) -> Result<()> {
        let conversations: Vec<Uuid> = self.conversations.iter().copied().collect();
        for some in conversations.chunks(VALUES_AT_ONCE) {
            let joined = audit::Entity::of(tenant)
                .filter(audit::Column::ConversationId.is_in(some.iter().copied()))
                .filter(audit::Column::What.eq(JOINED))
                .all(connection)
                .await?;
            let tickets = joined.iter().filter_map(|row| row.after.as_ref()?["ticket"].as_str());
            self.tickets.extend(tickets.map(str::to_owned));
        }
        Ok(())
    }

    pub(super) fn values(&self, key: Key) -> Vec<Value> {
        let texts = |texts: &BTreeSet<String>| texts.iter().map(|text| Value::from(text.as_str())).collect();
        let ids = |ids: &BTreeSet<Uuid>| ids.iter().map(|id| Value::from(*id)).collect();
        let ids_as_texts = |ids: &BTreeSet<Uuid>| ids.iter().map(|id| Value::from(id.to_string())).collect();
        match key {
            Key::Conversation => ids(&self.conversations),
            Key::ConversationText => ids_as_texts(&self.conversations),
            Key::Customer => ids(&self.customers),
            Key::Order => texts(&self.orders),
            Key::User => texts(&self.users),
            Key::Rma => ids(&self.rmas),
            Key::RmaNumber => texts(&self.rma_numbers),
            Key::Ticket => texts(&self.tickets),
            Key::Mail => ids(&self.mails),
            Key::MailJob => ids_as_texts(&self.mails),
            Key::Shopper => ids(&self.shoppers),
            Key::Sale => texts(&self.sales),
            Key::AttemptSubject => {
                let conversations = self.conversations.iter().map(|id| format!("conversation:{id}"));
                let orders = self.orders.iter().map(|number| format!("order:{number}"));
                let accounts = self.users.iter().map(|user| AttemptSubject::Account(user.clone()).name());
                conversations.chain(orders).chain(accounts).map(Value::from).collect()
            }
        }
    }
}

impl TenantStore<'_> {
    /// Finds the customer's rows.
    pub async fn find_person(&self, named: &Named) -> Result<Person> {
        find_person(&self.store.read, self.tenant, named).await
    }
}

/// Finds the customer's rows: customers, accounts, orders, RMAs, mails, shoppers and sales, and the conversations that have their
/// `user_id`, opened one of their orders or their account, or contain their address. A conversation with another `user_id` never belongs to
/// them.
pub(super) async fn find_person(connection: &impl ConnectionTrait, tenant: &TenantId, named: &Named) -> Result<Person> {
    let mut person = Person::default();
    match named {
        Named::User(user) => person.users.insert(user.clone()),
        Named::Email(email) => person.emails.insert(email.as_str().to_owned()),
    };
    loop {
        let known = Condition::any()
            .add(customers::Column::UserId.is_in(&person.users))
            .add(customers::Column::Email.is_in(&person.emails));
        let of_shop = customers::Entity::of(tenant);
        let found = of_shop.filter(known).all(connection).await?;
        let before = (person.users.len(), person.emails.len(), person.customers.len());
        for row in found {
            person.customers.insert(row.id);
            person.emails.insert(row.email);
            person.users.extend(row.user_id);
        }
        if before == (person.users.len(), person.emails.len(), person.customers.len()) {
            break;
        }
    }
    find_orders(connection, tenant, &mut person).await?;
    person.has_rows_of_user = has_rows_of_user(connection, tenant, &person.users).await?;
    find_conversations(connection, tenant, &mut person).await?;
    find_shoppers(connection, tenant, &mut person).await?;
    Ok(person)
}

async fn find_orders(connection: &impl ConnectionTrait, tenant: &TenantId, person: &mut Person) -> Result<()> {
    let theirs = Condition::any()
        .add(orders::Column::CustomerId.is_in(person.customers.iter().copied()))
        .add(orders::Column::Email.is_in(&person.emails));
    let numbers = orders::Entity::of(tenant).select_only().column(orders::Column::Number).filter(theirs);
    person.orders.extend(numbers.into_tuple::<String>().all(connection).await?);
    let theirs = Condition::any()
        .add(rmas::Column::CustomerId.is_in(person.customers.iter().copied()))
        .add(rmas::Column::OrderNumber.is_in(&person.orders));
    let found = rmas::Entity::of(tenant).filter(theirs);
    for row in found.all(connection).await? {
        person.rmas.insert(row.id);
        person.rma_numbers.insert(row.number);
    }
    let theirs = Condition::any()
        .add(mails::Column::Recipient.is_in(&person.emails))
        .add(mails::Column::OrderNumber.is_in(&person.orders))
        .add(mails::Column::RmaNumber.is_in(&person.rma_numbers));
    let found = mails::Entity::of(tenant).filter(theirs);
    for row in found.all(connection).await? {
        person.mails.insert(row.id);
        person.mail_numbers.insert(row.number);
    }
    Ok(())
}

async fn has_rows_of_user(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    users: &BTreeSet<String>,
) -> Result<bool> {
    let subscribed = subscriptions::Entity::of(tenant).filter(subscriptions::Column::UserId.is_in(users));
    let invoiced = invoices::Entity::of(tenant).filter(invoices::Column::UserId.is_in(users));
    let paid = payment_requests::Entity::of(tenant).filter(payment_requests::Column::PhoneE164.is_in(users));
    Ok(subscribed.one(connection).await?.is_some()
        || invoiced.one(connection).await?.is_some()
        || paid.one(connection).await?.is_some())
}

/// Finds the customers of the commerce desk, whose rows outlive their conversations, and their sales.
async fn find_shoppers(connection: &impl ConnectionTrait, tenant: &TenantId, person: &mut Person) -> Result<()> {
    let of_shop = || shoppers::Entity::of(tenant).select_only().column(shoppers::Column::Id);
    let theirs = of_shop().filter(shoppers::Column::PhoneE164.is_in(&person.users));
    person.shoppers.extend(theirs.into_tuple::<Uuid>().all(connection).await?);
    let conversations: Vec<Uuid> = person.conversations.iter().copied().collect();
    for some in conversations.chunks(VALUES_AT_ONCE) {
        let theirs = of_shop().filter(shoppers::Column::ConversationId.is_in(some.iter().copied()));
        person.shoppers.extend(theirs.into_tuple::<Uuid>().all(connection).await?);
    }
    let shoppers: Vec<Uuid> = person.shoppers.iter().copied().collect();
    for some in shoppers.chunks(VALUES_AT_ONCE) {
        let theirs = sales::Entity::of(tenant).filter(sales::Column::ShopperId.is_in(some.iter().copied()));
        let numbers = theirs.select_only().column(sales::Column::SaleId);
        person.sales.extend(numbers.into_tuple::<String>().all(connection).await?);
    }
    Ok(())
}

async fn find_conversations(connection: &impl ConnectionTrait, tenant: &TenantId, person: &mut Person) -> Result<()> {
    let mut candidates = naming_address(connection, tenant, person).await?;
    let (orders, rma_numbers) = (&person.orders, &person.rma_numbers);
    let theirs = rmas::Entity::of(tenant).filter(rmas::Column::Id.is_in(person.rmas.iter().copied()));
    candidates.extend(conversations_of(connection, theirs, rmas::Column::ConversationId).await?);
    let theirs = mails::Entity::of(tenant).filter(mails::Column::Id.is_in(person.mails.iter().copied()));
    candidates.extend(conversations_of(connection, theirs, mails::Column::ConversationId).await?);
    let about = tickets::Column::OrderNumber.is_in(orders).or(tickets::Column::RmaNumber.is_in(rma_numbers));
    let asked = tickets::Entity::of(tenant).filter(about);
    candidates.extend(conversations_of(connection, asked, tickets::Column::ConversationId).await?);
    let theirs = refund_cases::Entity::of(tenant).filter(refund_cases::Column::UserId.is_in(&person.users));
    candidates.extend(conversations_of(connection, theirs, refund_cases::Column::ConversationId).await?);
    let records = audit::Entity::of(tenant)
        .filter(audit::Column::OrderNumber.is_in(orders).or(audit::Column::UserId.is_in(&person.users)))
        .filter(audit::Column::ConversationId.is_not_null())
        .all(connection)
        .await?;
    candidates.extend(records.iter().filter(|row| !withholds_order(row)).filter_map(|row| row.conversation_id));
    let of_shop = || conversations::Entity::of(tenant).select_only().column(conversations::Column::Id);
    let own = of_shop().filter(conversations::Column::UserId.is_in(&person.users));
    person.conversations.extend(own.into_tuple::<Uuid>().all(connection).await?);
    let candidates: Vec<Uuid> = candidates.into_iter().collect();
    for some in candidates.chunks(VALUES_AT_ONCE) {
        let anonymous = of_shop()
            .filter(conversations::Column::Id.is_in(some.iter().copied()))
            .filter(conversations::Column::UserId.is_null());
        person.conversations.extend(anonymous.into_tuple::<Uuid>().all(connection).await?);
    }
    Ok(())
}

/// Lists the conversations of the rows, from their column.
async fn conversations_of<E: EntityTrait>(
    connection: &impl ConnectionTrait,
    rows: Select<E>,
    conversation: E::Column,
) -> Result<Vec<Uuid>> {
    let ids: Vec<Option<Uuid>> = rows.select_only().column(conversation).into_tuple().all(connection).await?;
    Ok(ids.into_iter().flatten().collect())
}

/// Finds conversations in which a customer wrote one of the addresses.
async fn naming_address(
    connection: &impl ConnectionTrait,
    tenant: &TenantId,
    person: &Person,
) -> Result<BTreeSet<Uuid>> {
    let mut found = BTreeSet::new();
    for email in &person.emails {
        let folded = fold(email);
        let written: Vec<(Uuid, String)> = messages::Entity::of(tenant)
            .select_only()
            .columns([messages::Column::ConversationId, messages::Column::Folded])
            .filter(messages::Column::Sender.eq(Sender::User.as_str()))
            .filter(messages::Column::Folded.contains(folded.as_str()))
            .into_tuple()
            .all(connection)
            .await?;
        found.extend(written.into_iter().filter(|(_, text)| names(text, &folded)).map(|(id, _)| id));
    }
    Ok(found)
}

/// Whether the text contains the address, and not only as part of a longer one.
pub fn names(text: &str, address: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "_%+-".contains(c);
    text.match_indices(address).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + address.len()..].chars();
        // A point ends a sentence or continues a longer domain.
        let continues = match after.next() {
            Some('.') => after.next().is_some_and(char::is_alphanumeric),
            next => next.is_some_and(is_part),
        };
        !before.is_some_and(|c| is_part(c) || c == '.') && !continues
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn address_matches_only_as_a_whole() {
        for text in ["an@b.vn", "mail an@b.vn.", "<an@b.vn>, please", "tran@b.vn or an@b.vn"] {
            assert!(names(text, "an@b.vn"), "{text}");
        }
        for text in ["tran@b.vn", "x.an@b.vn", "an@b.vn.evil.example", "an@b.vnx", "an@b"] {
            assert!(!names(text, "an@b.vn"), "{text}");
        }
    }
}

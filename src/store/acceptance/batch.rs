//! Accepts messages in one transaction, and inserts the rows of their turns together.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend, EntityTrait, Value as Db};

use super::{Acceptance, Decision, NewTurn};
use crate::domain::{Author, Message, Notice, TenantId, Timings, TurnStatus};
use crate::store::channels::keep_session;
use crate::store::conversations::{conversation_row, read_conversation};
use crate::store::deliveries::{NewDelivery, enqueue_deliveries};
use crate::store::entities::{conversations, idempotency_keys};
use crate::store::messages::insert_messages;
use crate::store::rows::{json, with_rows};
use crate::store::transaction::Transaction;
use crate::store::turns::{OpenTurn, TurnRecord};
use crate::store::{Result, Store, TenantStore, from_db, to_db};

/// The numbered turn's conversation, and the sentence that answers the message.
type Numbering = (conversations::Model, Option<Notice>);

/// Inserts turns that have not started.
const INSERT_TURNS: &str = "\
INSERT INTO turns (conversation_id, turn, tenant_id, message_id, status, accepted_at, timings, sender, events) VALUES {rows}";

/// The messages of one transaction.
pub(super) struct Batch<'a> {
    store: &'a Store,
    transaction: Transaction,
    /// The numbered turns whose rows are not inserted yet.
    numbered: Vec<Numbered<'a>>,
    is_changed: bool,
}

impl<'a> Batch<'a> {
    pub async fn begin(store: &'a Store, lock_wait: Duration) -> Result<Self> {
        let transaction = store.begin().await?;
        if !store.is_sqlite() {
            let lock_wait = lock_wait.as_millis();
            transaction.execute_unprepared(&format!("SET LOCAL lock_timeout = '{lock_wait}ms'")).await?;
        }
        Ok(Self { store, transaction, numbered: Vec::new(), is_changed: false })
    }

    pub async fn decide(&mut self, shop: TenantStore<'a>, new: &'a NewTurn<'a>) -> Result<Decision> {
        // The next turn of a conversation is numbered with this one.
        if self.numbered.last().is_some_and(|last| last.new.conversation == new.conversation) {
            self.insert_turns().await?;
        }
        let (row, notice) = match self.number(shop, new).await? {
            Ok(numbered) => numbered,
            Err(refusal) => return Ok((refusal, None)),
        };
        let mut message = new.message(from_db(row.last_turn));
        if let Some(notice) = notice {
            message.metadata = message.metadata.noticed(notice);
        }
        let accepted = Acceptance::Accepted { turn: message.turn, message_id: message.id };
        let is_next = from_db(row.last_event_turn) + 1 == message.turn;
        let is_delivered = row.channel.is_some() && !matches!(new.author, Author::Customer);
        // A row that this version cannot read does not keep the message out.
        let open = read_conversation(row).ok().filter(|_| is_next).map(|conversation| OpenTurn {
            record: TurnRecord::queued(&message),
            conversation,
            message: message.clone(),
        });
        self.numbered.push(Numbered { shop, new, message, is_delivered });
        self.is_changed = true;
        Ok((accepted, open))
    }

    /// Gives the turn its number. A message over a channel is not refused for its customer's limits, since Twilio gives up after a
    /// few attempts: it is stored with the sentence that answers it.
    async fn number(&mut self, shop: TenantStore<'a>, new: &NewTurn<'a>) -> Result<Result<Numbering, Acceptance>> {
        let Some(inbound) = new.inbound else {
            return Ok(shop.number_turn(&self.transaction, new).await?.map(|row| (row, None)));
        };
        if let Some(conversation) = inbound.opens.as_deref() {
            // It is new, so it holds no message that this one could repeat.
            if new.full {
                return Ok(Err(Acceptance::Full));
            }
            let row = conversation_row(conversation);
            conversations::Entity::insert(row).exec_without_returning(&self.transaction).await?;
        }
        let mut numbered = shop.number_turn(&self.transaction, new).await?;
        let mut notice = inbound.notice;
        if numbered.as_ref().is_err_and(|refusal| refusal.is_customers_limit()) {
            let unlimited = NewTurn { waiting_max: u64::MAX, per_minute: None, per_day: None, ..*new };
            numbered = shop.number_turn(&self.transaction, &unlimited).await?;
            notice = Some(Notice::OverLimit);
        }
        Ok(numbered.map(|row| (row, notice)))
    }

    /// Inserts the rows of the numbered turns.
    async fn insert_turns(&mut self) -> Result<()> {
        let (numbered, transaction) = (std::mem::take(&mut self.numbered), &self.transaction);
        if numbered.is_empty() {
            return Ok(());
        }
        let messages: Vec<(&TenantId, &Message)> =
            numbered.iter().map(|turn| (turn.shop.tenant, &turn.message)).collect();
        insert_messages(self.store, transaction, &messages).await?;
        let backend = transaction.get_database_backend();
        let rows = numbered.iter().map(|turn| turn.row(backend)).collect();
        transaction.execute_raw(with_rows(backend, INSERT_TURNS, rows, [])).await?;
        let keys = numbered.iter().filter_map(|turn| {
            let scope = turn.new.conversation.to_string();
            Some(turn.new.idempotency?.row(turn.shop.tenant, &scope, &turn.message))
        });
        idempotency_keys::Entity::insert_many(keys).exec_without_returning(transaction).await?;
        enqueue_deliveries(transaction, &numbered.iter().filter_map(Numbered::delivery).collect::<Vec<_>>()).await?;
        for turn in &numbered {
            if let Some(inbound) = turn.new.inbound {
                keep_session(transaction, turn.shop.tenant, inbound, turn.new.conversation, turn.new.now).await?;
            }
            turn.shop.record_act(transaction).await?;
        }
        Ok(())
    }

    pub async fn commit(mut self) -> Result<()> {
        if self.is_changed {
            self.insert_turns().await?;
            self.transaction.commit().await?;
        }
        Ok(())
    }
}

/// A turn whose rows are not inserted yet.
struct Numbered<'a> {
    shop: TenantStore<'a>,
    new: &'a NewTurn<'a>,
    message: Message,
    /// The conversation has a channel, and the customer did not write the message.
    is_delivered: bool,
}

impl Numbered<'_> {
    fn delivery(&self) -> Option<NewDelivery<'_>> {
        let Message { id, conversation_id, turn, position, created_at, .. } = self.message;
        self.is_delivered.then(|| NewDelivery {
            tenant: self.shop.tenant,
            message: id,
            conversation: conversation_id,
            turn,
            position,
            purpose: self.new.author.purpose(),
            now: created_at,
        })
    }

    fn row(&self, backend: DbBackend) -> [Db; 9] {
        [
            self.message.conversation_id.0.into(),
            to_db(self.message.turn).into(),
            self.shop.tenant.as_str().into(),
            self.message.id.0.into(),
            TurnStatus::Queued.as_str().into(),
            self.new.now.into(),
            json(backend, &Timings::new()),
            self.message.sender.as_str().into(),
            0.into(),
        ]
    }
}

//! Runs the turns of a lane.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::Utc;
use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Instrument, error, info_span, warn};

use super::Engine;
use crate::desks::{Desk, SinkClosed, Turn};
use crate::domain::{
    Conversation, ConversationId, ConversationStatus, Message as StoredMessage, Sender, TenantId, TurnStatus,
};
use crate::store::StoreError;
use crate::store::turns::OpenTurn;
use crate::turn::feed::Feed;
use crate::turn::lane::{AcceptedTurn, NextTurn};
use crate::turn::person::NoticeDesk;
use crate::turn::run::{Stops, run};
use crate::turn::{person, recover};

/// How many earlier messages a turn receives.
const HISTORY_MESSAGES: usize = 80;
/// How long a lane waits before it retries an unavailable store.
const STORE_RETRY: Duration = Duration::from_millis(500);

impl Engine {
    /// Runs the conversation's turns until none is left.
    pub(super) async fn run_lane(&self, tenant: &TenantId, conversation: ConversationId) {
        while let Some(next) = self.0.lanes.next(conversation) {
            // A turn still counts as waiting until it gets a permit, so that an overload fills the queue and is refused.
            let _permit = tokio::select! {
                biased;
                permit = self.0.running.acquire() => Some(permit),
                // It is being deleted, so that its turn is skipped.
                () = self.0.lanes.closed(conversation) => None,
            };
            if !matches!(next, NextTurn::Unconfirmed) {
                self.0.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            // During a shutdown, waiting turns stay queued in the store for the next start. Those of a conversation that
            // is being deleted are deleted with it.
            if self.0.draining.is_cancelled() || self.0.lanes.is_closed(conversation) {
                continue;
            }
            let (open, in_memory) = match next {
                NextTurn::Accepted(accepted) => {
                    let AcceptedTurn { open, edits_before, feed } = *accepted;
                    (Some(open), Some((edits_before, feed)))
                }
                NextTurn::Stored | NextTurn::Unconfirmed => (self.claim(tenant, conversation).await, None),
            };
            if open.as_ref().is_some_and(|open| open.conversation.last_turn > open.record.turn) {
                self.0.lanes.note_later(conversation);
            }
            match open {
                Some(open) if open.record.status == TurnStatus::Running => {
                    self.end_interrupted(tenant, &open.message).await;
                }
                Some(open) => {
                    let span = info_span!(
                        "turn",
                        conversation.id = %conversation,
                        turn = open.record.turn,
                        desk = Empty,
                        kind = Empty,
                        status = Empty,
                        otel.status_code = Empty,
                    );
                    self.run_turn(tenant, open, in_memory).instrument(span).await;
                }
                None => {}
            }
        }
    }

    /// Returns the conversation's first unfinished turn. Ends the turn if its rows cannot be read.
    async fn claim(&self, tenant: &TenantId, conversation: ConversationId) -> Option<OpenTurn> {
        let find = || async move { self.0.store.tenant(tenant).find_open_turn(conversation).await };
        match self.retry_until_available("claim a turn", find).await {
            Some(open) => open,
            None => {
                if !self.0.stop.is_cancelled() {
                    self.end_unreadable(tenant, conversation).await;
                }
                None
            }
        }
    }

    /// Ends the conversation's first unfinished turn without reading its other rows.
    async fn end_unreadable(&self, tenant: &TenantId, conversation: ConversationId) {
        let feed = self.0.feeds.get(conversation);
        let (store, feed) = (&self.0.store, feed.as_ref());
        let find = || async move { store.tenant(tenant).first_open_turn(conversation).await };
        // Found once: a later attempt to end it would find the next turn if the first one has succeeded unnoticed.
        let turn = self.retry_until_available("find an unreadable turn", find).await.flatten();
        if let Some(turn) = turn {
            let end = || recover::end_bare(store, tenant, conversation, turn, feed, Utc::now());
            self.retry_until_available("end an unreadable turn", end).await;
        }
        self.0.journal.changes().notify(tenant, conversation);
    }

    /// Ends the turn that this message started.
    async fn end_interrupted(&self, tenant: &TenantId, message: &StoredMessage) {
        let feed = self.0.feeds.get(message.conversation_id);
        let (store, shop, feed) = (&self.0.store, self.0.shops.get(tenant), feed.as_ref());
        let (shop, jobs) = (shop.as_ref(), self.0.jobs.count_stored());
        self.retry_until_available("end an interrupted turn", || async move {
            recover::end_interrupted(store, shop, tenant, message, feed, Utc::now()).await
        })
        .await;
        self.0.jobs.wake_if_stored_since(jobs);
        self.0.journal.changes().notify(tenant, message.conversation_id);
    }

    /// Retries `work` while the store is unavailable. `None`: the store refused it, or the engine has stopped.
    async fn retry_until_available<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        what: &str,
        work: impl Fn() -> F,
    ) -> Option<T> {
        loop {
            match work().await {
                Ok(value) => return Some(value),
                Err(cause) if cause.is_unavailable() && !self.0.stop.is_cancelled() => {
                    warn!(error = %cause, "Waiting for the store to {what}");
                    tokio::time::sleep(STORE_RETRY).await;
                }
                Err(cause) => {
                    error!(error = %cause, "Could not {what}");
                    return None;
                }
            }
        }
    }

    /// Runs the turn. `in_memory`: the turn was not read from the store; the count of edits before it was accepted, and its
    /// feed.
    async fn run_turn(&self, tenant: &TenantId, mut open: OpenTurn, in_memory: Option<(u64, Arc<Feed>)>) {
        let (conversation, number) = (open.conversation.id, open.record.turn);
        let (jobs, generation) = (self.0.jobs.count_stored(), self.0.histories.generation());
        let cancel = self.0.lanes.begin(conversation, number);
        // After the turn can be stopped: an edit is counted first and stops the turn afterwards.
        let is_current = in_memory.as_ref().is_some_and(|(edits_before, _)| *edits_before == self.edits());
        if in_memory.is_some() && !is_current {
            match self.claim(tenant, conversation).await {
                Some(claimed) if claimed.record.turn == number => open = claimed,
                // It was deleted.
                _ => return,
            }
        }
        if open.record.cancel_requested {
            cancel.cancel();
        }
        let remembered = self.0.histories.take(conversation, number);
        let before = match remembered.filter(|_| is_current) {
            Some(history) => Some((Some(open.conversation), history)),
            None => self.read_before(tenant, is_current.then_some(open.conversation), conversation, number).await,
        };
        let Some((current, history)) = before else {
            if !self.0.stop.is_cancelled() {
                self.end_interrupted(tenant, &open.message).await;
            }
            return;
        };
        // The conversation is being deleted.
        let Some(current) = current else { return };
        let shop = self.0.shops.get(tenant);
        let persona = shop.prompts().find_persona(&current.persona);
        let desk = persona.as_ref().and_then(|persona| shop.find_desk(&persona.desk));
        let persona = persona.unwrap_or_else(|| shop.prompts().default_persona());
        let feed = self.0.feeds.get(conversation);
        drop(in_memory);
        let broken = CancellationToken::new();
        let sink = self.0.journal.sink(tenant.clone(), conversation, number, feed, broken.clone());
        let full = sink.full();
        let caller = self.0.lanes.take_caller(conversation, open.message.id);
        let message = open.message.clone();
        let (by_person, taken) = (message.sender == Sender::Agent, current.status == ConversationStatus::Taken);
        let mut turn = Turn::new(current, open.message, history, persona, caller, Box::new(sink));
        turn.note_time("waited", turn.age());
        turn.stores_at_once = self.0.jobs.embeds_in_turns();
        let is_command = !by_person && desk.as_ref().is_some_and(|desk| desk.answers_at_once(&message.text));
        let is_cancelled = open.record.cancel_requested && !by_person;
        // Taking the conversation cancels the token, before or while the turn runs, but a command is still obeyed.
        let cancel = if is_command && !is_cancelled { CancellationToken::new() } else { cancel };
        let ended = if by_person || (taken && !is_command) {
            // Taking the conversation also cancelled this turn's token; only a client's request makes it cancelled.
            let status = if is_cancelled { TurnStatus::Cancelled } else { TurnStatus::Completed };
            person::run(&mut turn, status, &self.0.jobs).await
        } else {
            let notice = message.metadata.notice().filter(|_| !is_command);
            let answer = |notice| Arc::new(NoticeDesk { shop: shop.clone(), notice }) as Arc<dyn Desk>;
            let desk = notice.map(answer).or(desk);
            let (shutdown, deadline) = (self.0.stop.clone(), self.0.config.deadline);
            let stops = Stops { cancel, shutdown, broken, full, deadline };
            run(&mut turn, desk, &shop, &stops, &self.0.jobs).await
        };
        match ended {
            Ok(()) => self.0.histories.keep(conversation, number + 1, generation, turn.into_history(HISTORY_MESSAGES)),
            Err(SinkClosed) => self.end_interrupted(tenant, &message).await,
        }
        self.0.jobs.wake_if_stored_since(jobs);
    }

    /// Returns the current conversation, if it is not `known`, and the messages before the turn. `None`: the store cannot be
    /// read.
    ///
    /// This must run after the turn can be stopped: a handoff stores the new status first and stops the turn afterwards.
    async fn read_before(
        &self,
        tenant: &TenantId,
        known: Option<Conversation>,
        conversation: ConversationId,
        turn: u32,
    ) -> Option<(Option<Conversation>, Vec<StoredMessage>)> {
        let known = known.as_ref();
        self.retry_until_available("read the conversation", || async move {
            let store = self.0.store.tenant(tenant);
            let current = match known {
                Some(known) => Some(known.clone()),
                None => store.find_conversation(conversation).await?,
            };
            Ok((current, store.list_messages_before(conversation, turn, HISTORY_MESSAGES as u64).await?))
        })
        .await
    }
}

//! How a desk is registered.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Desk, Services};
use crate::config::Config;
use crate::domain::check::Check;
use crate::domain::{Conversation, ConversationId, Kind, Language, PerShop, TenantId};
use crate::jobs::{Job, JobRunner};
use crate::persona::texts::{ByLanguage, CommonTexts};
use crate::persona::{PromptError, Prompts};
use crate::store::warranty_import::ImportError;
use crate::store::{Store, StoreError};

/// What a desk says in each shop, for its jobs: they run without the desk, and also after a reload in which no persona uses it.
pub type TextsOfShops<T> = Arc<PerShop<(Arc<ByLanguage<T>>, Arc<ByLanguage<CommonTexts>>)>>;

/// Makes a desk of texts and rules that were read before.
pub type OpenDesk = Box<dyn FnOnce(&Services) -> Arc<dyn Desk>>;

/// Everything that the server knows about one desk. A factory lives as long as the server, so it also holds what must survive a
/// reload of the prompts.
#[async_trait]
pub trait DeskFactory: Send + Sync {
    /// The name that a persona's file gives as `desk:`.
    fn name(&self) -> &'static str;

    /// Reads the desk's texts and rules, in the languages of its personas. Called at the start and after each change of a file, if
    /// a persona names the desk.
    ///
    /// # Errors
    /// The first text that cannot be used.
    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError>;

    /// The kinds of messages that only this desk sends. See [`Kind::desk`].
    fn message_kinds(&self) -> &'static [Kind] {
        &[]
    }

    /// The background jobs of the desk. Registered once, when the server starts.
    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        Vec::new()
    }

    /// What the console shows next to a conversation.
    fn console_panel(&self) -> Option<ConsolePanel> {
        None
    }

    /// Whether the desk sells goods of a catalogue, which the console lists.
    fn sells_goods(&self) -> bool {
        false
    }

    /// Checks what the desk needs, for `frontdesk doctor`. Called if a persona names the desk.
    async fn doctor_checks(&self, _config: &Config) -> Vec<Check> {
        Vec::new()
    }

    /// How the rows that a turn depends on are copied, to replay the turn as an evaluation case. `None`: it depends on none.
    fn replay_fixture(&self) -> Option<Box<dyn ReplayFixture>> {
        None
    }
}

/// A turn of an evaluation case, as of its question.
#[derive(Clone, Debug)]
pub struct AskedTurn {
    pub tenant: TenantId,
    pub conversation: ConversationId,
    pub asked_at: DateTime<Utc>,
    /// The customer, as named by the shop's own system.
    pub user_id: Option<String>,
    /// The desk's state before the turn.
    pub state: Value,
    /// The texts of the conversation up to the question, oldest first.
    pub texts: Vec<String>,
}

/// Copies the rows that a desk's turns depend on.
#[async_trait]
pub trait ReplayFixture: Send + Sync {
    /// Copies the shop's rows as of the question. The value is stored with the case.
    async fn copy(&self, shop: &Store, turn: &AskedTurn) -> Result<Option<Value>, StoreError>;

    /// Fills an empty store for a replay.
    async fn restore(&self, case: Restoring<'_>) -> Result<(), FixtureError>;
}

/// A case to restore for a replay.
pub struct Restoring<'a> {
    /// The rows that [`ReplayFixture::copy`] returned.
    pub rows: Option<Value>,
    /// The shop's database, if there is one, for what a case does not store.
    pub shop: Option<&'a Store>,
    pub to: &'a Store,
    pub turn: &'a AskedTurn,
}

/// Why a store was not filled for a replay.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("the rows of the case are not valid: {0}")]
    Rows(#[from] serde_json::Error),
}

/// Reads the rows of a panel from the store.
pub type ReadRows = fn(Store, Conversation) -> BoxFuture<'static, Result<Vec<PanelRow>, StoreError>>;

/// What the console shows next to a conversation.
#[derive(Clone, Copy)]
pub enum ConsolePanel {
    /// The orders, RMAs, tickets and mails of the conversation.
    Orders,
    /// The telecom account of the conversation, with its invoices and refund cases.
    Account,
    /// Rows that the desk reads from the store.
    Rows(ReadRows),
}

/// A row of a panel: a name and a value. The console translates names that its texts have under `panel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PanelRow {
    pub name: String,
    pub value: String,
}

/// The desks that personas can name.
#[derive(Clone, Default)]
pub struct DeskRegistry {
    factories: Vec<Arc<dyn DeskFactory>>,
}

impl DeskRegistry {
    /// Adds a desk. The last factory of a name wins.
    #[must_use]
    pub fn with(mut self, factory: impl DeskFactory + 'static) -> Self {
        self.factories.retain(|known| known.name() != factory.name());
        self.factories.push(Arc::new(factory));
        self
    }

    /// Returns the factories in the order of registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DeskFactory>> {
        self.factories.iter()
    }

    /// Returns the factory of that name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn DeskFactory>> {
        self.factories.iter().find(|factory| factory.name() == name)
    }

    /// Adds the desks' jobs to the runner.
    pub fn register_jobs(&self, runner: &JobRunner) {
        self.iter().flat_map(|factory| factory.jobs()).for_each(|job| runner.register(job));
    }

    /// Returns the factories whose desk a persona names.
    pub fn used_by<'a>(&'a self, prompts: &'a Prompts) -> impl Iterator<Item = &'a Arc<dyn DeskFactory>> {
        self.iter().filter(|factory| prompts.has_desk(factory.name()))
    }
}

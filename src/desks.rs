//! What a conversation is for. A desk runs one turn at a time.
//!
//! - [`commerce`]: shops on WhatsApp and the web; [`retail`]: shopping and warranties; [`returns`]: orders and returns; [`telecom`]: technical support and billing
//! - [`factory`]: how a desk is registered; [`machine`]: a desk as a state machine
//! - [`decisions`]: announces what a person decided on a ticket
//! - [`shop`]: the desks, texts and documents of each shop
//!
//! A new desk is one folder here and one line in [`DeskRegistry::built_in`].

use std::sync::Arc;

use async_trait::async_trait;

use crate::config::{Config, ShopConfig};
use crate::domain::Language;
use crate::domain::returns::Notice;
use crate::jobs::JobRunner;
use crate::notify::Notifier;
use crate::providers::llm::Gateway;
use crate::replies::MissingValue;
use crate::retrieval::memory::Memory;
use crate::retrieval::search::{Knowledge, Pages};
use crate::store::Store;
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::Labels;

pub mod commerce;
pub mod decisions;
pub mod factory;
pub mod machine;
pub mod retail;
pub mod returns;
pub mod shop;
pub mod telecom;
#[cfg(test)]
mod tests;

pub use crate::dialogue::{Caller, DeskError, Sink, SinkClosed, Step, Stored, Turn};
pub use factory::{
    AskedTurn, ConsolePanel, DeskFactory, DeskRegistry, FixtureError, OpenDesk, PanelRow, ReplayFixture, Restoring,
    TextsOfShops,
};
pub use machine::Machine;
pub use shop::{Shop, ShopError, Shops};

impl DeskRegistry {
    /// The desks of this program: one line each.
    pub fn built_in() -> Self {
        Self::default()
            .with(retail::Factory::default())
            .with(returns::Factory::default())
            .with(telecom::Factory::default())
            .with(commerce::Factory::default())
    }
}

/// What a conversation is for: answers one turn at a time.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Runs the turn: understands the message, answers it, and leaves in `turn.state` what the next turn needs.
    ///
    /// What a customer may run into (no model, nothing found) is said, not returned. The future may be dropped at any await when
    /// the turn is cancelled; the engine then ends the message and the turn.
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError>;

    /// Whether the desk answers this message also while a person has the conversation, such as a command that ends all messages.
    fn answers_at_once(&self, _message: &str) -> bool {
        false
    }

    /// Returns how the desk words a person's decision on a ticket. `None`: in the common texts, if they have one for it. `variant`
    /// picks one of several wordings.
    ///
    /// # Errors
    /// A text names a placeholder that has no value.
    fn decision(&self, _notice: &Notice, _language: Language, _variant: usize) -> Result<Option<String>, MissingValue> {
        Ok(None)
    }

    /// Computes what the first turn would otherwise compute while a customer waits. Takes processor time.
    fn prepare(&self) {}
}

/// The parts of the server that the desks of one shop use.
#[derive(Clone)]
pub struct Services {
    pub config: Arc<Config>,
    /// The settings of the shop.
    pub shop: ShopConfig,
    pub store: Store,
    pub llm: Arc<Gateway>,
    /// The shop's documents.
    pub knowledge: Arc<Knowledge>,
    /// Earlier messages, by meaning.
    pub memory: Arc<Memory>,
    /// Runs background jobs.
    pub jobs: Arc<JobRunner>,
    /// Sends mails; desks register their templates when they are made.
    pub notifier: Arc<Notifier>,
    /// Return labels and the links to them.
    pub labels: Arc<Labels>,
    /// Names browsers' addresses where failed attempts are counted.
    pub client_names: ClientNames,
}

impl Services {
    /// Returns the services of another shop, whose documents are not read yet.
    fn of_shop(&self, shop: ShopConfig) -> Self {
        Self { knowledge: Arc::new(self.knowledge.of_shop(&shop)), shop, ..self.clone() }
    }

    /// Returns the documents that the turn's persona sees.
    fn pages(&self, turn: &Turn) -> Pages {
        self.knowledge.pages(&turn.persona.knowledge)
    }
}

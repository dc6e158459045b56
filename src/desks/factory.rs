//! How a desk is registered.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Services};
use crate::domain::{Conversation, Kind, Language};
use crate::persona::{PromptError, Prompts};

/// Makes a desk of texts and rules that were read before.
pub type OpenDesk = Box<dyn FnOnce(&Services) -> Arc<dyn Desk>>;

/// Everything that the server knows about one desk. A factory lives as long as the server, so it also holds what must survive a
/// reload of the prompts.
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

    /// What the console shows next to a conversation.
    fn console_panel(&self) -> Option<ConsolePanel> {
        None
    }

    /// Whether the desk sends e-mails, so that `frontdesk doctor` checks the mail settings.
    fn sends_mail(&self) -> bool {
        false
    }
}

/// What the console shows next to a conversation.
#[derive(Clone, Copy)]
pub enum ConsolePanel {
    /// The orders, RMAs, tickets and mails of the conversation.
    Orders,
    /// Rows that the desk reads from the conversation's state.
    Rows(fn(&Conversation) -> Vec<PanelRow>),
}

/// A row of a panel: a name and a value, shown as they are.
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

    /// Returns the factories whose desk a persona names.
    pub fn used_by<'a>(&'a self, prompts: &'a Prompts) -> impl Iterator<Item = &'a Arc<dyn DeskFactory>> {
        self.iter().filter(|factory| prompts.personas().any(|persona| persona.desk == factory.name()))
    }
}

//! Replays a case: its desk plays the turn again on the stored messages, without sending anything.
//!
//! Each replay uses a temporary store, which the desk fills ([`crate::desks::ReplayFixture`]). The shop's database is only read. Mails
//! are dropped. `scene` builds the turn and records its events.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::case::{Answer, Case};
use crate::app::start::{StartError, Wiring, label_links, random_secret, wire};
use crate::config::{Config, LlmMode};
use crate::desks::{
    Caller, DeskError, DeskRegistry, FixtureError, Restoring, Services, Shop, ShopError, Shops, SinkClosed, Turn,
};
use crate::domain::{ErrorCode, TenantId, TurnStatus};
use crate::jobs::JobRunner;
use crate::jobs::send_mail::SendMail;
use crate::notify::Notifier;
use crate::providers::email::Nowhere;
use crate::providers::llm::{Gateway, Ollama};
use crate::store::{Store, StoreError, StoreOptions};
use crate::tools::label_link::Labels;

mod scene;

use scene::Recording;

/// Replays cases with the shop's current settings and files.
pub struct Replayer {
    shops: Shops,
    /// The services of the default shop.
    services: Services,
    /// The shop's database, if it exists.
    shop: Option<Store>,
    /// Services that did not answer, which can change replayed answers.
    pub remarks: Vec<String>,
    /// Stands in for the shop's database if there is none.
    _empty: Option<Scratch>,
}

/// Why a case was not replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Shop(#[from] ShopError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Rows(#[from] FixtureError),
    #[error("cannot create a temporary folder: {0}")]
    Temporary(#[from] io::Error),
    #[error("the persona '{0}' does not exist any more")]
    NoPersona(String),
    #[error("the case has no message of a customer, or its tenant is not valid")]
    NoQuestion,
}

/// A temporary store. Dropping it deletes its folder.
struct Scratch {
    store: Store,
    _folder: TempDir,
}

impl Scratch {
    async fn open(config: &Config) -> Result<Self, ReplayError> {
        let folder = private_folder()?;
        let options = StoreOptions {
            url: format!("sqlite://{}", folder.path().join("replay.db").display()),
            timeout: config.store.timeout,
            connections: 2,
        };
        Ok(Self { store: Store::open(&options).await?, _folder: folder })
    }
}

/// Creates a folder that only this user can read, since it will hold customers' data.
fn private_folder() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("frontdesk-eval-").permissions(Permissions::from_mode(0o700)).tempdir()
}

impl Replayer {
    /// Loads what the server loads at its start. Without a language model, replies quote documents as on the server.
    pub async fn open(config: Config) -> Result<Self, ReplayError> {
        let config = Arc::new(config);
        let shop = open_shop(&config).await?;
        let (store, empty) = match &shop {
            Some(shop) => (shop.clone(), None),
            None => {
                let empty = Scratch::open(&config).await?;
                (empty.store.clone(), Some(empty))
            }
        };
        let llm = Gateway::new(Arc::new(Ollama::new(&config.llm).map_err(StartError::from)?), config.llm.clone());
        let mut remarks = Vec::new();
        if config.llm.mode != LlmMode::Offline
            && let Err(cause) = llm.look().await
        {
            remarks.push(format!("The language model does not answer, replaying cases without it: {cause}"));
        }
        // The memory finds only messages that a case's temporary store does not have, so replayed conversations recall nothing.
        let Wiring { services, embedder, .. } = wire(&config, &store, &llm, Arc::new(Nowhere), &random_secret())?;
        let shops = Shops::load(&DeskRegistry::built_in(), &services)?;
        for shop in if embedder.is_on() { shops.list() } else { Vec::new() } {
            if let Err(cause) = shop.knowledge().look_at_vectors().await {
                remarks.push(format!("Cannot read the documents' vectors, searching by words only: {cause}"));
            }
        }
        Ok(Self { shops, services, shop, remarks, _empty: empty })
    }

    /// Returns whether a language model writes the replies.
    pub fn has_model(&self) -> bool {
        self.services.config.llm.mode != LlmMode::Offline && self.services.llm.is_up()
    }

    /// Plays the turn again and returns its answer.
    pub async fn replay(&self, case: &Case) -> Result<Answer, ReplayError> {
        let tenant: TenantId = case.tenant.parse().map_err(|_| ReplayError::NoQuestion)?;
        let no_persona = || ReplayError::NoPersona(case.persona.clone());
        let shop = self.shops.get(&tenant);
        let persona = shop.prompts().find_persona(&case.persona).ok_or_else(no_persona)?;
        let scratch = Scratch::open(&self.services.config).await?;
        let services = self.services_on(&scratch.store, &shop);
        let registry = DeskRegistry::built_in();
        if let Some(fixture) = registry.find(&persona.desk).and_then(|desk| desk.replay_fixture()) {
            let asked = case.asked_turn(&tenant);
            // A case without rows, as of earlier versions, is played on the shop's current ones.
            let rows = match (case.rows.clone(), &self.shop) {
                (None, Some(shop)) => fixture.copy(shop, &asked).await.map_err(FixtureError::from)?,
                (rows, _) => rows,
            };
            let (shop, to) = (self.shop.as_ref(), &scratch.store);
            fixture.restore(Restoring { rows, shop, to, turn: &asked }).await?;
        }
        registry.register_jobs(&services.jobs);
        let shop = Shop::reopen(&registry, &services, shop.prompts().clone()).map_err(ShopError::from)?;
        let desk = shop.find_desk(&persona.desk).ok_or_else(no_persona)?;
        let conversation = scene::conversation(case, tenant);
        let mut history = scene::messages(case);
        let message = history.pop().ok_or(ReplayError::NoQuestion)?;
        let recording = Recording::default();
        let sink = Box::new(recording.clone());
        let mut turn = Turn::new(conversation, message, history, persona, Caller::default(), sink);
        let over = CancellationToken::new();
        let playing = async {
            let played = timeout(services.config.turns.deadline, desk.play(&mut turn)).await;
            over.cancel();
            played
        };
        let (played, ()) = tokio::join!(playing, services.jobs.clone().run(None, over.clone()));
        let failure = match played {
            Ok(Ok(())) => None,
            Ok(Err(DeskError::Store(cause))) => {
                warn!(error = %cause, "A desk failed to use the store");
                Some(ErrorCode::Internal)
            }
            Ok(Err(cause @ (DeskError::Text(_) | DeskError::Restless))) => {
                warn!(error = %cause, "A desk failed to play a turn");
                Some(ErrorCode::Internal)
            }
            Ok(Err(DeskError::Sink(SinkClosed))) => Some(ErrorCode::Internal),
            Err(_) => Some(ErrorCode::Timeout),
        };
        // A recording accepts every event, so this cannot fail.
        let _ = turn.cut_message(TurnStatus::Failed).await;
        let mut answer = recording.answer();
        answer.error = answer.error.or(failure);
        Ok(answer)
    }

    /// Returns the services of the shop's desks, on a case's temporary store.
    fn services_on(&self, store: &Store, shop: &Shop) -> Services {
        let (config, secret) = (&self.services.config, random_secret());
        let notifier = Notifier::new(Arc::new(Nowhere));
        let jobs = JobRunner::new(store.clone(), config.jobs.clone());
        jobs.register(Arc::new(SendMail(notifier.clone())));
        Services {
            shop: shop.config().clone(),
            knowledge: shop.knowledge().clone(),
            store: store.clone(),
            labels: Labels::new(store.clone(), label_links(config, &secret)),
            jobs,
            notifier,
            ..self.services.clone()
        }
    }
}

/// Opens the shop's database without migrating it. Returns `None` if there is none.
async fn open_shop(config: &Config) -> Result<Option<Store>, StoreError> {
    let (url, timeout) = (config.store.url.clone(), config.store.timeout);
    let options = StoreOptions { url, timeout, connections: 2 };
    if options.would_create()? {
        Ok(None)
    } else {
        Ok(Some(Store::open_as_is(&options).await?.with_current_schema().await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_folder_is_private() {
        let folder = private_folder().expect("a folder");
        let mode = folder.path().metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

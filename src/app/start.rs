//! Wires a server: its parts and its background tasks.

use std::sync::Arc;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use metrics_exporter_prometheus::PrometheusHandle;
use rand::Rng;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::warn;

use super::knowledge::keep_vectors_synced;
use super::personal_files;
use super::personas::Personas;
use super::reload::{Reloading, keep_fresh, watch_files};
use super::whatsapp::{CustomerLocks, WEBHOOK};
use super::{App, Keys, Limits, Sessions, Streams, Tokens, metrics};
use crate::channels::Reports;
use crate::config::{Config, LlmMode, PaymentMode};
use crate::desks::decisions::AnnounceDecision;
use crate::desks::{DeskRegistry, Services, ShopError, Shops};
use crate::domain::TenantId;
use crate::domain::text::hex;
use crate::jobs::JobRunner;
use crate::jobs::deliver::Deliver;
use crate::jobs::embed_message::EmbedMessage;
use crate::jobs::forget::Forget;
use crate::jobs::send_mail::SendMail;
use crate::notify::Notifier;
use crate::providers::email::{InvalidSmtp, MailFiles, Mailer, Smtp};
use crate::providers::embedding::{Embedder, OllamaEmbedding};
use crate::providers::llm::{Gateway, InvalidOllama, Ollama};
use crate::providers::messaging::twilio::{InvalidTwilio, Twilio};
use crate::providers::payment::daraja::refused_word;
use crate::providers::vector::{InvalidChroma, VectorIndex};
use crate::retrieval::memory::Memory;
use crate::retrieval::open_vectors;
use crate::retrieval::search::Knowledge;
use crate::store::settings::TOKEN_SECRET;
use crate::store::{Store, StoreError};
use crate::tools::client_name::ClientNames;
use crate::tools::label_link::{LabelLinks, Labels};
use crate::tools::payment_callback::PaymentCallbacks;
use crate::turn::journal::Journal;
use crate::turn::{Engine, retention};

/// How often limits of idle callers are removed and histograms are aggregated.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Shop(#[from] ShopError),
    #[error(transparent)]
    Chroma(#[from] InvalidChroma),
    #[error("OLLAMA_HOST cannot be used: {0}")]
    Ollama(#[from] InvalidOllama),
    #[error(transparent)]
    Smtp(#[from] InvalidSmtp),
    #[error(transparent)]
    Twilio(#[from] InvalidTwilio),
    #[error(
        "PAYMENTS=sandbox, but the shop {0} has credentials of a payment provider: set PAYMENTS=auto, or remove them with `frontdesk tenant \
         set {0} --credentials FILE`, where FILE has lines such as daraja_consumer_key = \"\""
    )]
    SandboxWithCredentials(TenantId),
    #[error("LLM=ollama, but there is no language model: {0}. Start Ollama, pull the model, or set LLM=auto")]
    NoModel(String),
}

impl App {
    /// Wires the server on an open store with the built-in desks, and continues what an earlier run left.
    pub async fn start(config: Config, store: Store) -> Result<Arc<Self>, StartError> {
        Self::start_with(DeskRegistry::built_in(), config, store).await
    }

    /// Like [`App::start`], with other desks.
    pub async fn start_with(registry: DeskRegistry, config: Config, store: Store) -> Result<Arc<Self>, StartError> {
        // First, since metrics that are counted before are lost.
        let metrics = metrics::handle();
        let store = store.claim().await?;
        if config.commerce.payments == PaymentMode::Sandbox
            && let Some(shop) = store.list_shops_with_payments().await?.into_iter().next()
        {
            return Err(StartError::SandboxWithCredentials(shop));
        }
        if let Some(word) = config.http.public_url.as_deref().and_then(refused_word)
            && !store.list_shops_with_payments().await?.is_empty()
        {
            warn!(word, "Daraja refuses callbacks at PUBLIC_URL because of a word in it: use another host");
        }
        let config = Arc::new(config);
        let llm = Gateway::new(Arc::new(Ollama::new(&config.llm)?), config.llm.clone());
        if config.llm.mode != LlmMode::Offline {
            let looked = llm.look().await;
            if config.llm.mode == LlmMode::Ollama {
                let status = looked.map_err(|cause| StartError::NoModel(cause.to_string()))?;
                if !status.installed {
                    return Err(StartError::NoModel(format!("Ollama does not have the model {}", status.model)));
                }
            }
        }
        let watch = watch_files(&config);
        let store = store.embedding(config.embed.on).external_vectors(config.vectors.chroma_url.is_some());
        let secret = match &config.auth.token_secret {
            Some(secret) => secret.clone(),
            None => store.get_or_set_setting(TOKEN_SECRET, &random_secret()).await?,
        };
        let Wiring { services, embedder, vectors } = wire(&config, &store, &llm, mailer(&config)?, &secret)?;
        let Services { memory, jobs, notifier, labels, client_names, .. } = services.clone();
        jobs.register(Arc::new(SendMail(notifier.clone())));
        registry.register_jobs(&jobs);
        let reports = Reports::default();
        jobs.register(Arc::new(deliverer(&config, &reports)?));
        if memory.is_on() {
            jobs.register(Arc::new(EmbedMessage::new(memory.clone(), config.jobs.embed_batch)));
        }
        jobs.register(Arc::new(Forget::message(memory.clone())));
        jobs.register(Arc::new(Forget::conversation(memory)));
        let payment_callbacks = PaymentCallbacks::new(&store, &config);
        let shops = Arc::new(Shops::load(&registry, &services)?);
        jobs.register(Arc::new(AnnounceDecision::new(&shops)));
        for tenant in config.tenants_without_shop() {
            let folder = config.shops.folder.join(tenant.as_str());
            warn!(%tenant, "The shop has no documents, and the default shop's personas: create {}", folder.display());
        }
        let (turns, background, stop) = (TaskTracker::new(), TaskTracker::new(), CancellationToken::new());
        let (journal, writer) = Journal::new(store.clone(), config.store.timeout, config.turns.start_hold);
        background.spawn(writer);
        background.spawn(llm.clone().watch(stop.clone()));
        background.spawn(personal_files::run_retention(config.clone(), stop.clone()));
        let (changed, edited) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let personas = Personas::new(store.clone(), shops.clone(), edited.clone(), background.clone());
        let reloading = Reloading { watch, shops: shops.clone(), edited, read: changed.clone() };
        background.spawn(keep_fresh(reloading, stop.clone()));
        if config.embed.on {
            let lost = services.knowledge.lost_vectors();
            background.spawn(keep_vectors_synced(shops.clone(), changed, lost, config.jobs.pause, stop.clone()));
        }
        let limits = Arc::new(Limits::new(&config.http));
        background.spawn(sweep(limits.clone(), metrics.clone(), stop.clone()));
        let turn_config = config.turns.clone();
        let engine = Engine::new(turn_config, store.clone(), shops.clone(), journal, jobs.clone(), turns.clone());
        engine.recover().await?;
        background.spawn(retention::run(engine.clone(), config.clone(), stop.clone()));
        let worker = TaskTracker::new();
        worker.spawn(jobs.clone().run(Some(Arc::new(engine.clone())), stop.clone()));
        let keys = config.auth.keys.as_deref().map(Keys::new);
        let sessions = keys.clone().filter(|_| config.console.on);
        let revoked = store.list_revoked_sessions(Utc::now()).await?;
        Ok(Arc::new(Self {
            sessions: sessions.map(|keys| Sessions::new(&secret, keys, config.console.session_ttl, revoked)),
            keys,
            tokens: Tokens::new(&secret),
            metrics,
            limits,
            personas,
            streams: Streams::new(config.http.streams_per_conversation, config.http.streams_per_key),
            config,
            store,
            engine,
            shops,
            embedder,
            vectors,
            jobs,
            notifier,
            labels,
            payment_callbacks,
            client_names,
            reports,
            customer_locks: CustomerLocks::default(),
            llm,
            turns,
            background,
            worker,
            stop,
        }))
    }
}

/// The services of the default shop, with the embedding model and the vectors that they use.
pub(super) struct Wiring {
    pub services: Services,
    pub embedder: Arc<Embedder>,
    pub vectors: Arc<dyn VectorIndex>,
}

pub(super) fn wire(
    config: &Arc<Config>,
    store: &Store,
    llm: &Arc<Gateway>,
    mailer: Arc<dyn Mailer>,
    secret: &str,
) -> Result<Wiring, StartError> {
    let model = OllamaEmbedding::new(&config.embed)?;
    let embedder = Arc::new(Embedder::new(Arc::new(model), config.embed.clone()));
    let vectors = open_vectors(config, store)?;
    let (documents, search) = (config.knowledge.clone(), config.search.clone());
    let collection = config.vectors.collection.clone();
    let services = Services {
        config: config.clone(),
        shop: config.shop(&TenantId::default()),
        store: store.clone(),
        llm: llm.clone(),
        knowledge: Arc::new(Knowledge::new(documents, search, embedder.clone(), vectors.clone())),
        memory: Arc::new(Memory::new(embedder.clone(), vectors.clone(), collection)),
        jobs: JobRunner::new(store.clone(), config.jobs.clone()),
        notifier: Notifier::new(mailer),
        labels: Labels::new(store.clone(), label_links(config, secret)),
        client_names: ClientNames::new(secret),
    };
    Ok(Wiring { services, embedder, vectors })
}

fn mailer(config: &Config) -> Result<Arc<dyn Mailer>, InvalidSmtp> {
    Ok(match &config.mail.smtp_url {
        Some(url) => Arc::new(Smtp::new(url, &config.mail)?),
        None => Arc::new(MailFiles::new(&config.mail)?),
    })
}

fn deliverer(config: &Config, reports: &Reports) -> Result<Deliver, InvalidTwilio> {
    let public = config.http.public_url.as_ref();
    Ok(Deliver {
        gateway: Arc::new(Twilio::new(&config.messaging)?),
        key: config.commerce.tenant_key.clone(),
        report_to: public.map(|public| format!("{public}{WEBHOOK}?delivery=")),
        pace: config.messaging.pace,
        reports: reports.clone(),
    })
}

/// Returns the links to labels. Without `PUBLIC_URL` they lead to the address that the server listens on, which only works on this
/// machine.
pub(super) fn label_links(config: &Config, secret: &str) -> LabelLinks {
    let bound = format!("http://{}", config.http.bind);
    let base = config.http.public_url.as_deref().unwrap_or(&bound);
    LabelLinks::new(secret, base, TimeDelta::from_std(config.returns.label_link).unwrap_or(TimeDelta::MAX))
}

/// Regularly removes limits of idle callers and aggregates histograms.
async fn sweep(limits: Arc<Limits>, metrics: PrometheusHandle, stop: CancellationToken) {
    while tokio::time::timeout(SWEEP_EVERY, stop.cancelled()).await.is_err() {
        limits.sweep();
        metrics.run_upkeep();
    }
}

/// Returns 256 random bits as hex.
pub(super) fn random_secret() -> String {
    let mut bytes = [0_u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    hex(&bytes)
}

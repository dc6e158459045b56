//! `frontdesk serve`: the server.

use std::future::pending;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::{logging, upsert_warranty};
use crate::app::App;
use crate::config::Config;
use crate::domain::TenantId;
use crate::store::lock::ServingLock;
use crate::store::settings::SERVING_AT;
use crate::store::{Store, StoreOptions};

/// A server that holds its database and its socket, and does not serve yet.
pub(super) struct Prepared {
    pub app: Arc<App>,
    pub listener: TcpListener,
    pub address: String,
    _lock: ServingLock,
}

pub(super) async fn run(config: Config) -> anyhow::Result<()> {
    logging::init(&config.log, true)?;
    let prepared = prepare(config).await?;
    let mut out = std::io::stdout();
    for (part, state) in prepared.app.report() {
        writeln!(out, "{part}: {state}")?;
    }
    if prepared.app.keys.is_none() {
        writeln!(out, "development: no X_API_KEYS, so only this machine may call, and it needs no key")?;
    }
    writeln!(out, "listening on {}", prepared.address)?;
    out.flush()?;
    crate::http::serve(prepared.app, prepared.listener, told_to_end()).await?;
    info!("Ended");
    Ok(())
}

/// Opens and wires everything; fills an empty warranty table from the shop's list.
pub(super) async fn prepare(config: Config) -> anyhow::Result<Prepared> {
    let options = store_options(&config);
    let Some(lock) = ServingLock::acquire(&options, lock_wait(&config)).await? else {
        let at = match Store::open(&options).await {
            Ok(store) => store.find_setting(SERVING_AT).await.ok().flatten(),
            Err(_) => None,
        };
        let at = at.map(|address| format!(" (at {address})")).unwrap_or_default();
        bail!(
            "another frontdesk serves this database already{at}: stop it, or give this one a DATABASE_URL of its own"
        );
    };
    // Before the store is touched: a port that is taken is the likelier mistake.
    let bind = config.http.bind;
    let listener = TcpListener::bind(bind).await.with_context(|| format!("BIND_ADDR={bind} cannot be used"))?;
    let store = Store::open(&options).await?;
    import_first_warranties(&config, &store).await?;
    let address = format!("http://{}", listener.local_addr()?);
    store.set_setting(SERVING_AT, &address).await?;
    let app = App::start(config, store).await?;
    Ok(Prepared { app, listener, address, _lock: lock })
}

/// How long to wait for a process that is going down. An SQLite file's server is ended before the next one is started;
/// PostgreSQL's may be another machine's.
fn lock_wait(config: &Config) -> Duration {
    if config.store.url.starts_with("sqlite:") { Duration::ZERO } else { config.turns.drain }
}

pub(super) fn store_options(config: &Config) -> StoreOptions {
    StoreOptions { url: config.store.url.clone(), timeout: config.store.timeout, connections: config.store.connections }
}

/// The first start of a shop: its `warranty.csv` goes into the table. Later changes are `upsert-warranty`'s matter.
async fn import_first_warranties(config: &Config, store: &Store) -> anyhow::Result<()> {
    let file = config.knowledge.folder.join("warranty.csv");
    let tenant = TenantId::default();
    if !file.exists() || store.tenant(&tenant).count_warranties().await? > 0 {
        return Ok(());
    }
    let args = upsert_warranty::Args {
        file,
        dry_run: false,
        tenant,
        skip_invalid: false,
        json: false,
        max_refused_shown: 10,
        database_url: config.store.url.clone(),
    };
    // A list with a mistake is no reason not to serve: everything else works.
    match upsert_warranty::import(&args).await {
        Ok(report) => {
            println!("warranties: the first start, so {} was read", args.file.display());
            report.write_text(&mut std::io::stdout())?;
            report.write_remarks(&mut std::io::stderr())?;
        }
        Err(error) => warn!("The warranties of {} were not read: {error:#}", args.file.display()),
    }
    Ok(())
}

/// Ends with Ctrl-C or SIGTERM; the second of them ends the process at once.
async fn told_to_end() {
    signal().await;
    #[expect(clippy::disallowed_methods, reason = "it waits for a signal that may never come, until the process ends")]
    tokio::spawn(async {
        signal().await;
        std::process::exit(130);
    });
}

async fn signal() {
    let terminate = async {
        #[cfg(unix)]
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminate) => terminate.recv().await,
            Err(_) => pending().await,
        };
        #[cfg(not(unix))]
        pending::<()>().await;
    };
    tokio::select! {
        result = tokio::signal::ctrl_c() => if result.is_err() { pending::<()>().await },
        () = terminate => {}
    }
}

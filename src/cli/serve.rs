//! `frontdesk serve`: the server.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::lists::{ImportOptions, ImportReport, ListArgs, Output};
use super::logging::{self, Terminal};
use super::output::Report as _;
use super::signals::Signals;
use super::traces::Traces;
use super::upsert_warranty;
use crate::app::App;
use crate::config::Config;
use crate::domain::TenantId;
use crate::store::lock::ServingLock;
use crate::store::settings::SERVING_AT;
use crate::store::{Store, StoreOptions};

/// How long to wait for the lock of an SQLite database, which `frontdesk doctor` holds for a moment.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// Open files other than client connections: the database, the log, calls to other services.
const FILES_RESERVED: usize = 128;

/// A server with its database and sockets open, before it serves.
pub(super) struct Prepared {
    pub app: Arc<App>,
    pub listener: TcpListener,
    /// The listener of `METRICS_ADDR`.
    pub metrics: Option<TcpListener>,
    pub address: String,
    /// The imported warranty lists, at a shop's first start.
    pub warranties: Vec<ImportReport>,
    pub lock: ServingLock,
}

/// The result of [`prepare`].
pub(super) enum Preparation {
    Ready(Box<Prepared>),
    /// Another process serves the database, at this address if it is known.
    Served {
        at: Option<String>,
    },
}

/// The arguments of `frontdesk serve`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Args {
    /// Refuse to start without API keys. Use this for every server that customers can reach
    #[arg(long)]
    production: bool,
}

pub(super) async fn run(mut config: Config, args: &Args) -> anyhow::Result<()> {
    if args.production && config.auth.keys.is_none() {
        bail!(
            "--production needs API keys, but X_API_KEYS is not set: make a key with `openssl rand -hex 32` and set \
             X_API_KEYS to it, in the environment or in .env"
        );
    }
    let traces = Traces::begin(&config.traces)?;
    logging::init(&config.log, Terminal::Log, traces.as_ref())?;
    raise_open_files(&mut config);
    let mut signals = Signals::listen()?;
    // A start can be interrupted without a shutdown.
    let prepared = tokio::select! {
        prepared = prepare(config) => prepared?,
        _ = signals.next() => return Ok(()),
    };
    let prepared = match prepared {
        Preparation::Ready(prepared) => prepared,
        Preparation::Served { at } => {
            let at = at.map(|address| format!(" (at {address})")).unwrap_or_default();
            bail!("another frontdesk already serves this database{at}: stop it, or set another DATABASE_URL");
        }
    };
    announce(&prepared, &mut std::io::stdout())?;
    let Prepared { app, listener, metrics, mut lock, .. } = *prepared;
    app.prepare_shops();
    let store = app.store.clone();
    let metrics = {
        let app = app.clone();
        async move {
            match metrics {
                Some(listener) => crate::http::serve_metrics(app, listener).await,
                None => std::future::pending().await,
            }
        }
    };
    tokio::select! {
        () = crate::http::serve(app, listener, shutdown_signal(signals)) => {}
        () = metrics => {}
        // Exit at once, since this process can no longer store anything.
        () = lock.lost(&store) => bail!(
            "another frontdesk took over this database while the connection was lost: stop it before starting this one again"
        ),
    }
    info!("Server stopped");
    if let Some(traces) = traces {
        traces.end().await;
    }
    Ok(())
}

/// Prints each part of the server on one line, then its address.
fn announce(prepared: &Prepared, out: &mut impl Write) -> anyhow::Result<()> {
    for report in &prepared.warranties {
        writeln!(out, "warranties: imported {} at the first start", report.file)?;
        report.write_text(out)?;
        report.write_remarks(&mut std::io::stderr(), false)?;
    }
    for (part, state) in prepared.app.report() {
        writeln!(out, "{part}: {state}")?;
    }
    let auth = &prepared.app.config.auth;
    writeln!(out, "{}: {}", if auth.keys.is_none() { "development" } else { "keys" }, auth.describe())?;
    if let Some(metrics) = &prepared.metrics {
        writeln!(out, "metrics: http://{}/metrics, without a key", metrics.local_addr()?)?;
    }
    writeln!(out, "listening on {}", prepared.address)?;
    Ok(out.flush()?)
}

/// Opens the database and the sockets and starts the app. Imports the shop's warranty list into an empty table.
pub(super) async fn prepare(config: Config) -> anyhow::Result<Preparation> {
    let options = store_options(&config);
    let Some(lock) = ServingLock::acquire(&options, lock_wait(&config)).await? else {
        return Ok(Preparation::Served { at: find_server(&options).await });
    };
    // Before the store, since a port in use is a frequent error.
    let listener = bind("BIND_ADDR", config.http.bind).await?;
    let metrics = match config.http.metrics_bind {
        Some(address) => Some(bind("METRICS_ADDR", address).await?),
        None => None,
    };
    let store = Store::open_locked(&options, &lock).await?;
    let warranties = import_first_warranties(&config, &store).await?;
    let address = format!("http://{}", listener.local_addr()?);
    store.set_setting(SERVING_AT, &address).await?;
    let app = App::start(config, store).await?;
    Ok(Preparation::Ready(Box::new(Prepared { app, listener, metrics, address, warranties, lock })))
}

/// Returns the address that the running server stored in the database.
pub(super) async fn find_server(options: &StoreOptions) -> Option<String> {
    let store = Store::open_as_is(options).await.ok()?;
    let at = store.find_setting(SERVING_AT).await.ok().flatten();
    let _ = store.close().await;
    at
}

async fn bind(name: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "{name}={address} is in use by another program: stop it, or set {name} to another port (0 picks a free one)"
        ),
        _ => anyhow!("cannot listen on {name}={address}: {error}"),
    })
}

/// Raises the limit of open files to the system's maximum, and keeps `CONNECTIONS_MAX` below it.
fn raise_open_files(config: &mut Config) {
    let limit = match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        Err(error) => {
            warn!(%error, "Cannot raise the limit of open files");
            return;
        }
    };
    let most = limit.saturating_sub(FILES_RESERVED).max(1);
    if config.http.connections_max > most {
        warn!(open_files = limit, "Lowered CONNECTIONS_MAX to {most}, since the system limits open files");
        config.http.connections_max = most;
    }
}

/// How long to wait for the lock. A PostgreSQL database may be served by another machine, which is still draining.
fn lock_wait(config: &Config) -> Duration {
    if config.store.url.starts_with("sqlite:") { LOCK_WAIT } else { config.turns.drain }
}

pub(super) fn store_options(config: &Config) -> StoreOptions {
    StoreOptions { url: config.store.url.clone(), timeout: config.store.timeout, connections: config.store.connections }
}

/// Imports `warranty.csv` at each shop's first start. Later changes are imported with `upsert-warranty`.
async fn import_first_warranties(config: &Config, store: &Store) -> anyhow::Result<Vec<ImportReport>> {
    let mut reports = Vec::new();
    for tenant in [TenantId::default()].iter().chain(config.shops.others()) {
        let Some(folder) = config.shop(tenant).knowledge else { continue };
        reports.extend(import_warranties_of(config, store, tenant.clone(), folder.join("warranty.csv")).await?);
    }
    Ok(reports)
}

async fn import_warranties_of(
    config: &Config,
    store: &Store,
    tenant: TenantId,
    file: PathBuf,
) -> anyhow::Result<Option<ImportReport>> {
    if !file.exists() || store.tenant(&tenant).count_warranties().await? > 0 {
        return Ok(None);
    }
    let args = upsert_warranty::Args {
        list: ListArgs::new(file, tenant, &config.store.url),
        options: ImportOptions {
            output: Output { max_refused_shown: 10, ..Output::default() },
            ..ImportOptions::default()
        },
    };
    // Everything else works without the list, so the server starts.
    match upsert_warranty::import(&args).await {
        Ok(report) => Ok(Some(report)),
        Err(error) => {
            warn!("Cannot import the warranties of {}: {error:#}", args.list.file.display());
            Ok(None)
        }
    }
}

/// Waits for the first signal. A second one ends the process at once.
async fn shutdown_signal(mut signals: Signals) {
    signals.next().await;
    #[expect(clippy::disallowed_methods, reason = "it waits for a signal that may never come, until the process ends")]
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(130);
    });
}

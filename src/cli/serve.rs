//! `frontdesk serve`: the server.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use tokio::net::TcpListener;
use tracing::{info, warn};

use super::lists::Destination;
use super::logging::{self, Terminal};
use super::signals::Signals;
use super::traces::Traces;
use super::upsert_warranty::{self, Report};
use crate::app::App;
use crate::config::Config;
use crate::domain::TenantId;
use crate::store::lock::ServingLock;
use crate::store::settings::SERVING_AT;
use crate::store::{Store, StoreOptions};

/// `frontdesk doctor` holds an SQLite database's lock for an instant; after so long it is another server.
const LOOK: Duration = Duration::from_millis(200);

/// Open files that are no clients' connections: the database, the log, calls to other services.
const FILES_RESERVED: usize = 128;

/// A server that holds its database and its socket, and does not serve yet.
pub(super) struct Prepared {
    pub app: Arc<App>,
    pub listener: TcpListener,
    /// The listener of `METRICS_ADDR`.
    pub metrics: Option<TcpListener>,
    pub address: String,
    /// The shop's list, if this is the start that read it.
    pub warranties: Option<Report>,
    pub lock: ServingLock,
}

/// Whether this process may serve the database.
pub(super) enum Preparation {
    Ready(Box<Prepared>),
    /// Another one does, there, as far as it has said.
    Served {
        at: Option<String>,
    },
}

/// The arguments of `frontdesk serve`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Args {
    /// Refuse to start without API keys, as every server that customers reach must
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
    // While it starts, nothing has to be ended in order.
    let prepared = tokio::select! {
        prepared = prepare(config) => prepared?,
        _ = signals.next() => return Ok(()),
    };
    let prepared = match prepared {
        Preparation::Ready(prepared) => prepared,
        Preparation::Served { at } => {
            let at = at.map(|address| format!(" (at {address})")).unwrap_or_default();
            bail!(
                "another frontdesk serves this database already{at}: stop it, or give this one a DATABASE_URL of its own"
            );
        }
    };
    announce(&prepared, &mut std::io::stdout())?;
    let Prepared { app, listener, metrics, mut lock, .. } = *prepared;
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
        () = crate::http::serve(app, listener, told_to_end(signals)) => {}
        () = metrics => {}
        // At once: what it still does is not stored any more.
        () = lock.lost(&store) => bail!(
            "another frontdesk has taken this database while its connection was cut: stop that one and start this one again, \
             or leave it at that"
        ),
    }
    info!("Ended");
    if let Some(traces) = traces {
        traces.end().await;
    }
    Ok(())
}

/// One line for each part, then where it listens.
fn announce(prepared: &Prepared, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(report) = &prepared.warranties {
        writeln!(out, "warranties: the first start, so {} was read", report.file)?;
        report.write_text(out)?;
        report.write_remarks(&mut std::io::stderr())?;
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

/// Opens and wires everything; fills an empty warranty table from the shop's list.
pub(super) async fn prepare(config: Config) -> anyhow::Result<Preparation> {
    let options = store_options(&config);
    let Some(lock) = ServingLock::acquire(&options, lock_wait(&config)).await? else {
        return Ok(Preparation::Served { at: find_server(&options).await });
    };
    // Before the store is touched: a port that is taken is the likelier mistake.
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

/// Where the server of a database that is served says that it is.
pub(super) async fn find_server(options: &StoreOptions) -> Option<String> {
    let store = Store::open_as_is(options).await.ok()?;
    let at = store.find_setting(SERVING_AT).await.ok().flatten();
    let _ = store.close().await;
    at
}

async fn bind(name: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "{name}={address} is taken by another program: stop that one, or set {name} to another port (port 0: any \
             free one)"
        ),
        _ => anyhow!("{name}={address} cannot be used: {error}"),
    })
}

/// Raises the limit of open files as far as the system allows, and keeps connections below it.
fn raise_open_files(config: &mut Config) {
    let limit = match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        Err(error) => {
            warn!(%error, "The limit of open files cannot be raised; connections may be refused early");
            return;
        }
    };
    let most = limit.saturating_sub(FILES_RESERVED).max(1);
    if config.http.connections_max > most {
        warn!(open_files = limit, "CONNECTIONS_MAX is {most}, because the system allows no more open files");
        config.http.connections_max = most;
    }
}

/// How long to wait for a process that is going down. An SQLite file's server is ended before the next one is started;
/// PostgreSQL's may be another machine's.
fn lock_wait(config: &Config) -> Duration {
    if config.store.url.starts_with("sqlite:") { LOOK } else { config.turns.drain }
}

pub(super) fn store_options(config: &Config) -> StoreOptions {
    StoreOptions { url: config.store.url.clone(), timeout: config.store.timeout, connections: config.store.connections }
}

/// The first start of a shop: its `warranty.csv` goes into the table. Later changes are `upsert-warranty`'s matter.
async fn import_first_warranties(config: &Config, store: &Store) -> anyhow::Result<Option<Report>> {
    let file = config.knowledge.folder.join("warranty.csv");
    let tenant = TenantId::default();
    if !file.exists() || store.tenant(&tenant).count_warranties().await? > 0 {
        return Ok(None);
    }
    let args = upsert_warranty::Args {
        file,
        destination: Destination::new(tenant, &config.store.url),
        skip_invalid: false,
        json: false,
        max_refused_shown: 10,
    };
    // A list with a mistake is no reason not to serve: everything else works.
    match upsert_warranty::import(&args).await {
        Ok(report) => Ok(Some(report)),
        Err(error) => {
            warn!("The warranties of {} were not read: {error:#}", args.file.display());
            Ok(None)
        }
    }
}

/// Ends with the first signal; the second one ends the process at once.
async fn told_to_end(mut signals: Signals) {
    signals.next().await;
    #[expect(clippy::disallowed_methods, reason = "it waits for a signal that may never come, until the process ends")]
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(130);
    });
}

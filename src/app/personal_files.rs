//! Personal data outside the database: evaluation cases below `EVALS_PATH`, and `.eml` files in `MAIL_OUTBOX_PATH`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::App;
use super::evals::FOLDER;
use crate::config::Config;
use crate::domain::{ConsoleAct, ConversationId, TenantId};
use crate::store::StoreError;
use crate::store::personal::person::{Person, names};

/// The folders that hold personal data.
#[derive(Clone, Debug)]
pub struct PersonalFiles {
    cases: PathBuf,
    outbox: PathBuf,
}

/// Why a conversation was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    #[error("cannot remove a case: {0}")]
    Files(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file about a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonalFile {
    pub path: PathBuf,
    /// Whether it is an evaluation case rather than a mail.
    pub is_case: bool,
}

impl PersonalFiles {
    pub fn new(config: &Config) -> Self {
        Self { cases: config.evals.folder.join(FOLDER), outbox: config.mail.folder.clone() }
    }

    /// Lists the person's mails and the cases that concern them or name their address. Blocks.
    pub fn of_person(&self, tenant: &TenantId, person: &Person) -> io::Result<Vec<PersonalFile>> {
        let text = |case: &Value, name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let mut found = self.cases_where(|json, case| {
            let conversation = text(case, "conversation").parse::<uuid::Uuid>();
            text(case, "tenant") == tenant.as_str()
                && (conversation.is_ok_and(|id| person.conversations.contains(&id))
                    || person.users.contains(&text(case, "user_id"))
                    || person.emails.iter().any(|email| names(&json.to_lowercase(), email)))
        })?;
        let is_theirs = |path: &Path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            person.mail_numbers.contains(stem.trim_start_matches('.'))
        };
        let mails = files(&self.outbox)?.into_iter().filter(|path| is_theirs(path));
        found.extend(mails.map(|path| PersonalFile { path, is_case: false }));
        Ok(found)
    }

    /// Lists the cases of one conversation. Blocks.
    pub fn of_conversation(&self, tenant: &TenantId, id: ConversationId) -> io::Result<Vec<PersonalFile>> {
        let id = id.to_string();
        self.cases_where(|_, case| case["conversation"] == id.as_str() && case["tenant"] == tenant.as_str())
    }

    /// Lists cases and mails that are older than `before`. Blocks.
    fn older_than(&self, before: DateTime<Utc>) -> io::Result<Vec<PersonalFile>> {
        let asked_at = |case: &Value| case["asked_at"].as_str()?.parse::<DateTime<Utc>>().ok();
        let mut found = self.cases_where(|_, case| asked_at(case).is_some_and(|at| at < before))?;
        let before = SystemTime::from(before);
        for path in files(&self.outbox)? {
            let written = std::fs::metadata(&path).and_then(|file| file.modified());
            let is_mail = path.extension().is_some_and(|extension| extension == "eml" || extension == "part");
            if is_mail && written.is_ok_and(|at| at < before) {
                found.push(PersonalFile { path, is_case: false });
            }
        }
        Ok(found)
    }

    fn cases_where(&self, is_wanted: impl Fn(&str, &Value) -> bool) -> io::Result<Vec<PersonalFile>> {
        let mut found = Vec::new();
        for path in files(&self.cases)? {
            let Ok(json) = std::fs::read_to_string(&path) else { continue };
            // Ignore other files.
            if serde_json::from_str::<Value>(&json).is_ok_and(|case| is_wanted(&json, &case)) {
                found.push(PersonalFile { path, is_case: true });
            }
        }
        Ok(found)
    }
}

/// Removes the files; a missing file is not an error. Blocks.
pub fn remove(found: &[PersonalFile]) -> io::Result<()> {
    for PersonalFile { path, .. } in found {
        match std::fs::remove_file(path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                return Err(io::Error::new(cause.kind(), format!("{}: {cause}", path.display())));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Lists the files of a folder. A missing folder has none.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl App {
    /// Deletes a conversation and its cases, and empties the database's log, which still contains the texts. Returns `false` if the
    /// conversation does not exist.
    pub async fn delete_conversation(
        &self,
        tenant: &TenantId,
        id: ConversationId,
        act: ConsoleAct,
    ) -> Result<bool, DeleteError> {
        if self.store.tenant(tenant).find_conversation(id).await?.is_none() {
            return Ok(false);
        }
        // Before the conversation, so that a repeated deletion finds the files that an interrupted one left.
        self.remove_cases(tenant, id).await.map_err(DeleteError::Files)?;
        let deleted = self.engine.delete(tenant, id, Some(act)).await?;
        let store = self.store.clone();
        self.background.spawn(async move {
            if let Err(cause) = store.truncate_log().await {
                warn!(error = %cause, "Cannot empty the database's log after a deletion");
            }
        });
        // Cases that were written during the deletion. A later one finds the conversation deleted.
        self.remove_cases(tenant, id).await.map_err(DeleteError::Files)?;
        Ok(deleted)
    }

    /// Removes the cases of one conversation.
    pub(super) async fn remove_cases(&self, tenant: &TenantId, id: ConversationId) -> io::Result<()> {
        let (files, tenant) = (PersonalFiles::new(&self.config), tenant.clone());
        let removing = tokio::task::spawn_blocking(move || remove(&files.of_conversation(&tenant, id)?));
        removing.await.unwrap_or_else(|died| Err(io::Error::other(died)))
    }
}

/// Regularly removes files that are older than `MESSAGE_RETENTION_DAYS`, until the shutdown.
pub(super) async fn run_retention(config: Arc<Config>, shutdown: CancellationToken) {
    let Some(days) = config.turns.message_retention_days else { return };
    loop {
        if let Err(cause) = forget_files(&config, Utc::now() - TimeDelta::days(i64::from(days))).await {
            warn!(error = %cause, "Cannot remove old cases and mails, retrying later");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(config.turns.retention_every) => {}
        }
    }
}

/// Removes cases and mails that are older than `before`.
///
/// # Errors
/// Fails at the first file or folder that cannot be read or removed.
pub async fn forget_files(config: &Config, before: DateTime<Utc>) -> io::Result<()> {
    let files = PersonalFiles::new(config);
    let removing = tokio::task::spawn_blocking(move || remove(&files.older_than(before)?));
    removing.await.unwrap_or_else(|died| Err(io::Error::other(died)))
}

//! The personas' files, edited by the shop while the server runs.
//!
//! A file is the truth: who edits it by hand and who edits it in the console meet in its content, and whoever comes second is
//! told. What it said before is kept in the store, the text before the first edit as well.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, Notify};
use tokio_util::task::TaskTracker;
use tracing::info;

use super::atomic_file;
use crate::config::Config;
use crate::desks::Desks;
use crate::domain::text::{clean, hex};
use crate::domain::{ConsoleAct, TenantId};
use crate::persona::{Persona, PromptError};
use crate::store::persona_versions::PersonaVersion;
use crate::store::{Store, StoreError};

/// So many texts of each persona are kept, the one in use among them.
const VERSIONS_KEPT: u32 = 10;

/// The personas of a running server, to be seen and changed. Cheap to clone.
#[derive(Clone)]
pub struct Personas {
    config: Arc<Config>,
    store: Store,
    desks: Arc<ArcSwap<Desks>>,
    /// Told when a file was written, for whoever reads files anew.
    edited: Arc<Notify>,
    /// One edit after another: what is compared must still stand when it is replaced.
    editing: Arc<Mutex<()>>,
    tasks: TaskTracker,
}

/// A persona's file and what it said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaFile {
    pub text: String,
    /// Of the text: whoever saves another one says on which it stands.
    pub hash: String,
    /// Newest first.
    pub versions: Vec<SavedVersion>,
}

/// A text that the file had, without the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedVersion {
    pub version: u32,
    pub saved_at: DateTime<Utc>,
    /// `None`: somebody who edited the file.
    pub saved_by: Option<String>,
    /// Whether the file has it now.
    pub current: bool,
}

/// What somebody wants a persona's file to say.
#[derive(Clone, Debug)]
pub struct PersonaEdit {
    pub text: String,
    /// The hash of the text that was edited.
    pub hash: String,
    /// The person's name, where it is known.
    pub saved_by: Option<String>,
    /// The shop and the person, for the console's audit log.
    pub act: Option<(TenantId, ConsoleAct)>,
}

/// Why a persona's text is not used: where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaProblem {
    /// Of the text, counted from 1; `None`: the text as a whole, or another file that does not go with it.
    pub line: Option<usize>,
    pub problem: String,
}

/// Why a persona was not shown or saved.
#[derive(Debug, thiserror::Error)]
pub enum PersonaError {
    #[error("no such persona")]
    NotFound,
    #[error("the file has changed meanwhile")]
    Conflict,
    #[error("{}", .0.problem)]
    Invalid(PersonaProblem),
    #[error("the persona's file cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the persona's file cannot be written: {0}")]
    NotWritable(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Personas {
    /// Edits are carried out on `tasks`.
    pub(super) fn new(
        config: Arc<Config>,
        store: Store,
        desks: Arc<ArcSwap<Desks>>,
        edited: Arc<Notify>,
        tasks: TaskTracker,
    ) -> Self {
        Self { config, store, desks, edited, editing: Arc::default(), tasks }
    }

    /// All of them, by name, each with whether conversations get it that name none.
    pub fn list(&self) -> Vec<(Arc<Persona>, bool)> {
        let desks = self.desks.load();
        let default = desks.prompts().default_persona().id.clone();
        desks.prompts().personas().map(|persona| (persona.clone(), persona.id == default)).collect()
    }

    /// The file as it is, and what it said before.
    pub async fn get(&self, id: &str) -> Result<PersonaFile, PersonaError> {
        let text = self.read(id).await?;
        let versions = self.store.list_persona_versions(id).await?;
        Ok(PersonaFile { hash: hash(&text), versions: saved(&versions, &text), text })
    }

    /// What the file said.
    pub async fn find_version(&self, id: &str, version: u32) -> Result<Option<PersonaVersion>, PersonaError> {
        self.file(id)?;
        Ok(self.store.find_persona_version(id, version).await?)
    }

    /// The persona that the text makes, together with the prompts in use; nothing is changed.
    pub async fn check(&self, id: &str, text: &str) -> Result<Arc<Persona>, PersonaError> {
        let file = self.file(id)?.display().to_string();
        let (desks, config) = (self.desks.load_full(), self.config.clone());
        let (persona, text) = (id.to_owned(), text.to_owned());
        // Every text and rule is looked at, which takes long enough to hold other requests up.
        let checking = tokio::task::spawn_blocking(move || {
            let prompts = desks.prompts().with_persona(&persona, &text)?;
            Desks::check(desks.registry(), &prompts)?;
            let mut missing = prompts.missing_knowledge(&config.knowledge.folder);
            if let Some((_, error)) = missing.find(|(lacking, _)| lacking.id == persona) {
                return Err(error);
            }
            Ok(prompts.find_persona(&persona))
        });
        let checked = checking.await.map_err(|died| PersonaError::Unreadable(io::Error::other(died)))?;
        checked.map_err(|error| PersonaError::Invalid(problem(&file, error)))?.ok_or(PersonaError::NotFound)
    }

    /// Puts the text into the file; the server takes it into use as any change of it. Saving what is there already does nothing.
    ///
    /// # Errors
    /// [`PersonaError::Conflict`] if the file does not say any more what was edited, [`PersonaError::Invalid`] if the text could not be
    /// used. The file stays as it is then.
    pub async fn save(&self, id: &str, edit: PersonaEdit) -> Result<PersonaFile, PersonaError> {
        // On a task of its own: a client that leaves drops its request wherever it stands, and a file that is written without
        // its version, or without anybody being told, must not come of that.
        let (personas, id) = (self.clone(), id.to_owned());
        let saving = self.tasks.spawn(async move { personas.save_now(&id, edit).await });
        saving.await.unwrap_or_else(|died| Err(PersonaError::NotWritable(io::Error::other(died))))
    }

    async fn save_now(&self, id: &str, mut edit: PersonaEdit) -> Result<PersonaFile, PersonaError> {
        edit.text = clean(&edit.text).into_owned();
        let _alone = self.editing.lock().await;
        let now = Utc::now();
        let earlier = self.read(id).await?;
        if edit.text != earlier {
            if edit.hash != hash(&earlier) {
                return Err(PersonaError::Conflict);
            }
            self.check(id, &edit.text).await?;
            // Before it is overwritten: nothing is lost, whoever wrote it.
            self.store.add_persona_version(id, &earlier, self.written_at(id).await?, None, VERSIONS_KEPT, None).await?;
            self.write(id, &edit.text).await?;
            let by = edit.saved_by.as_deref();
            let act = edit.act.as_ref().map(|(tenant, act)| (tenant, act));
            self.store.add_persona_version(id, &edit.text, now, by, VERSIONS_KEPT, act).await?;
            info!(persona = id, "A persona was edited");
        }
        self.get(id).await
    }

    /// The file of a persona that is known: no other name leads to a path.
    fn file(&self, id: &str) -> Result<PathBuf, PersonaError> {
        let desks = self.desks.load();
        let known = desks.prompts().find_persona(id);
        known.map(|_| desks.prompts().persona_file(id)).ok_or(PersonaError::NotFound)
    }

    async fn read(&self, id: &str) -> Result<String, PersonaError> {
        let text = tokio::fs::read_to_string(self.file(id)?).await.map_err(PersonaError::Unreadable)?;
        Ok(clean(&text).into_owned())
    }

    async fn written_at(&self, id: &str) -> Result<DateTime<Utc>, PersonaError> {
        let metadata = tokio::fs::metadata(self.file(id)?).await;
        let modified = metadata.and_then(|metadata| metadata.modified()).map_err(PersonaError::Unreadable)?;
        Ok(modified.into())
    }

    async fn write(&self, id: &str, text: &str) -> Result<(), PersonaError> {
        let (file, text) = (self.file(id)?, text.to_owned());
        let writing = tokio::task::spawn_blocking(move || atomic_file::write(&file, text.as_bytes()));
        let written = writing.await.unwrap_or_else(|died| Err(io::Error::other(died)));
        written.map_err(PersonaError::NotWritable)?;
        self.edited.notify_one();
        Ok(())
    }
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// The newest one with the file's text is the one that it has.
fn saved(versions: &[PersonaVersion], text: &str) -> Vec<SavedVersion> {
    let current = versions.iter().find(|version| version.text == text).map(|version| version.version);
    let saved = |version: &PersonaVersion| SavedVersion {
        version: version.version,
        saved_at: version.saved_at,
        saved_by: version.saved_by.clone(),
        current: Some(version.version) == current,
    };
    versions.iter().map(saved).collect()
}

fn problem(file: &str, error: PromptError) -> PersonaProblem {
    if error.file == file {
        PersonaProblem { line: error.line, problem: error.hint }
    } else {
        PersonaProblem { line: None, problem: error.to_string() }
    }
}

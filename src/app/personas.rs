//! Persona files, which each shop edits in the console while the server runs.
//!
//! The file is the source of truth. Saving fails if the file has changed since it was read, by hand or in the console. Earlier texts
//! are kept in the store.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, Notify};
use tokio_util::task::TaskTracker;
use tracing::info;
use utoipa::ToSchema;

use super::atomic_file;
use crate::desks::{Shop, Shops};
use crate::domain::calendar::time;
use crate::domain::text::{clean, hex};
use crate::domain::{ConsoleAct, TenantId};
use crate::persona::{Persona, PersonaFault, PromptError, Prompts};
use crate::store::persona_versions::PersonaVersion;
use crate::store::{Store, StoreError};

/// Texts that are kept per persona, including the current one.
const VERSIONS_KEPT: u32 = 10;

/// Reads and edits the personas of a running server. Cheap to clone.
#[derive(Clone)]
pub struct Personas {
    store: Store,
    shops: Arc<Shops>,
    /// Notified when a file was written, to reload it.
    edited: Arc<Notify>,
    /// Serializes edits, so that the file does not change between comparing and writing.
    editing: Arc<Mutex<()>>,
    tasks: TaskTracker,
}

/// A persona's file and its earlier texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaFile {
    pub text: String,
    /// The hash of the text, which an edit must name.
    pub hash: String,
    /// Newest first.
    pub versions: Vec<SavedVersion>,
}

/// An earlier text, without the text itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = VersionView)]
pub struct SavedVersion {
    pub version: u32,
    #[serde(serialize_with = "time")]
    pub saved_at: DateTime<Utc>,
    /// Who saved it; null for a person without a name or a direct edit of the file.
    pub saved_by: Option<String>,
    /// Whether this is the text of the file now.
    pub current: bool,
}

/// An edit of a persona's file.
#[derive(Clone, Debug)]
pub struct PersonaEdit {
    pub text: String,
    /// The hash of the text that the edit is based on.
    pub hash: String,
    /// The person's name, if known.
    pub saved_by: Option<String>,
    /// For the console's audit log.
    pub act: ConsoleAct,
}

/// Why a persona's text is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonaProblem {
    /// The line of the text, from 1. `None` if the problem concerns the whole text or another file.
    pub line: Option<usize>,
    pub problem: String,
    pub fault: Option<PersonaFault>,
}

/// Why a persona was not read or saved.
#[derive(Debug, thiserror::Error)]
pub enum PersonaError {
    #[error("the persona does not exist")]
    NotFound,
    #[error("the file has changed since it was read")]
    Conflict,
    #[error("the persona is the default shop's: copy its file to this shop's prompts to edit it")]
    Inherited,
    #[error("{}", .0.problem)]
    Invalid(PersonaProblem),
    #[error("cannot read the persona's file: {0}")]
    Unreadable(io::Error),
    #[error("cannot write the persona's file: {0}")]
    NotWritable(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Personas {
    /// Creates the service. Edits run on `tasks`.
    pub(super) fn new(store: Store, shops: Arc<Shops>, edited: Arc<Notify>, tasks: TaskTracker) -> Self {
        Self { store, shops, edited, editing: Arc::default(), tasks }
    }

    /// Lists the shop's personas by name, each with whether it is the default.
    pub fn list(&self, tenant: &TenantId) -> Vec<(Arc<Persona>, bool)> {
        let shop = self.shops.get(tenant);
        let default = shop.prompts().default_persona().id.clone();
        shop.prompts().personas().map(|persona| (persona.clone(), persona.id == default)).collect()
    }

    /// Returns the file and its earlier versions.
    pub async fn get(&self, tenant: &TenantId, id: &str) -> Result<PersonaFile, PersonaError> {
        let shop = self.shops.get(tenant);
        let text = read(&file(&shop, id)?).await?;
        let versions = self.store.tenant(&shop.config().tenant).list_persona_versions(id).await?;
        Ok(PersonaFile { hash: hash(&text), versions: saved(&versions, &text), text })
    }

    /// Returns an earlier version of the file.
    pub async fn find_version(
        &self,
        tenant: &TenantId,
        id: &str,
        version: u32,
    ) -> Result<Option<PersonaVersion>, PersonaError> {
        let shop = self.shops.get(tenant);
        file(&shop, id)?;
        Ok(self.store.tenant(&shop.config().tenant).find_persona_version(id, version).await?)
    }

    /// Checks a text together with the current prompts, and returns its persona. Changes nothing.
    pub async fn check(&self, tenant: &TenantId, id: &str, text: &str) -> Result<Arc<Persona>, PersonaError> {
        check_in(self.shops.get(tenant), id, text).await
    }

    /// Writes the text to the file, which the server then reloads. Saving the current text does nothing, except that its version is
    /// stored if it is missing.
    ///
    /// # Errors
    /// [`PersonaError::Conflict`] if the file has changed since it was read, [`PersonaError::Invalid`] if the text is not valid. Neither
    /// changes the file.
    pub async fn save(&self, tenant: &TenantId, id: &str, edit: PersonaEdit) -> Result<PersonaFile, PersonaError> {
        // Runs on a separate task: a request is dropped when its client disconnects, which must not happen between writing the file and
        // storing its version.
        let (personas, tenant, id) = (self.clone(), tenant.clone(), id.to_owned());
        let saving = self.tasks.spawn(async move { personas.save_now(&tenant, &id, edit).await });
        saving.await.unwrap_or_else(|died| Err(PersonaError::NotWritable(io::Error::other(died))))
    }

    async fn save_now(&self, tenant: &TenantId, id: &str, mut edit: PersonaEdit) -> Result<PersonaFile, PersonaError> {
        edit.text = clean(&edit.text).into_owned();
        let _alone = self.editing.lock().await;
        let now = Utc::now();
        let shop = self.shops.get(tenant);
        let (file, store) = (file(&shop, id)?, self.store.tenant(&shop.config().tenant));
        let earlier = read(&file).await?;
        let is_new = edit.text != earlier;
        if is_new {
            if edit.hash != hash(&earlier) {
                return Err(PersonaError::Conflict);
            }
            // In the shop that the file is of: after a reload, the name may be that of another file.
            check_in(shop.clone(), id, &edit.text).await?;
            // Store the earlier text before overwriting it.
            store.add_persona_version(id, &earlier, written_at(&file).await?, None, VERSIONS_KEPT, None).await?;
            self.write(file, &edit.text).await?;
        }
        // An earlier attempt may have written the file without storing its version.
        if is_new || !store.list_persona_versions(id).await?.is_empty() {
            let by = edit.saved_by.as_deref();
            store.add_persona_version(id, &edit.text, now, by, VERSIONS_KEPT, Some((tenant, &edit.act))).await?;
        }
        if is_new {
            info!(%tenant, persona = id, "Saved a persona");
        }
        self.get(tenant, id).await
    }

    async fn write(&self, file: PathBuf, text: &str) -> Result<(), PersonaError> {
        let text = text.to_owned();
        let writing = tokio::task::spawn_blocking(move || atomic_file::write(&file, text.as_bytes()));
        let written = writing.await.unwrap_or_else(|died| Err(io::Error::other(died)));
        written.map_err(PersonaError::NotWritable)?;
        self.edited.notify_one();
        Ok(())
    }
}

/// Checks a text together with the prompts of a shop.
async fn check_in(shop: Arc<Shop>, id: &str, text: &str) -> Result<Arc<Persona>, PersonaError> {
    let file = file(&shop, id)?.display().to_string();
    if let Some(own) = shop.prompts().inherited_persona(id) {
        info!("The persona {id} is the default shop's: to edit it, copy {file} to {}", own.display());
        return Err(PersonaError::Inherited);
    }
    let (persona, text) = (id.to_owned(), text.to_owned());
    // Checks every text and rule, which would block other requests.
    let checking = tokio::task::spawn_blocking(move || {
        let prompts = shop.prompts().with_persona(&persona, &text)?;
        Shop::check(shop.registry(), &prompts)?;
        if let Some(folder) = &shop.config().knowledge
            && let Some((_, error)) = prompts.missing_knowledge(folder).find(|(other, _)| other.id == persona)
        {
            return Err(error);
        }
        Ok(prompts.find_persona(&persona))
    });
    let checked = checking.await.map_err(|died| PersonaError::Unreadable(io::Error::other(died)))?;
    checked.map_err(|error| PersonaError::Invalid(problem(&file, error)))?.ok_or(PersonaError::NotFound)
}

/// Returns the file of a persona of the shop. Other ids are refused, so that they never become a path.
fn file(shop: &Shop, id: &str) -> Result<PathBuf, PersonaError> {
    let prompts: &Prompts = shop.prompts();
    prompts.find_persona(id).map(|_| prompts.persona_file(id)).ok_or(PersonaError::NotFound)
}

async fn read(file: &Path) -> Result<String, PersonaError> {
    let text = tokio::fs::read_to_string(file).await.map_err(PersonaError::Unreadable)?;
    Ok(clean(&text).into_owned())
}

async fn written_at(file: &Path) -> Result<DateTime<Utc>, PersonaError> {
    let modified = tokio::fs::metadata(file).await.and_then(|metadata| metadata.modified());
    Ok(modified.map_err(PersonaError::Unreadable)?.into())
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Marks the newest version with the file's text as current.
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
        PersonaProblem { line: error.line, problem: error.hint, fault: error.fault }
    } else {
        PersonaProblem { line: None, problem: error.to_string(), fault: None }
    }
}

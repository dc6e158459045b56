//! Lists that are uploaded in the console: compared first, then written in a second request.

use std::io::{Cursor, Error};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{Found, ListError, WarrantyList};
use crate::app::App;
use crate::domain::TenantId;
use crate::domain::text::hex;
use crate::store::warranty_import::ImportError;

/// Refused rows that are listed.
const SHOWN: usize = 200;

/// What to do with a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Only compare.
    DryRun,
    /// Write the list if it has this hash, and if no row is refused or `skip_refused` is set.
    Write { hash: String, skip_refused: bool },
}

/// The result of an upload.
#[derive(Debug)]
pub struct Outcome {
    pub found: Found,
    /// The SHA-256 of the file in hexadecimal.
    pub hash: String,
    /// Whether the list was written.
    pub applied: bool,
}

/// Why the upload failed. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("the file differs from the compared one")]
    OtherFile,
    #[error(transparent)]
    List(#[from] ListError),
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl App {
    /// Compares the list with the shop's warranties, and writes it if `wish` allows it.
    pub async fn take_warranty_list(
        &self,
        tenant: &TenantId,
        file: Bytes,
        wish: &Wish,
    ) -> Result<Outcome, UploadError> {
        // Hashing and reading would block other requests.
        let reading = tokio::task::spawn_blocking(move || {
            (hex(&Sha256::digest(&file)), WarrantyList::read(Cursor::new(file), SHOWN, |_: u64| {}))
        });
        let (hash, list) = reading.await.map_err(|died| ListError::Temporary(Error::other(died)))?;
        if let Wish::Write { hash: seen, .. } = wish
            && *seen != hash
        {
            return Err(UploadError::OtherFile);
        }
        let compared = list?.compare(&self.store, tenant).await?;
        match wish {
            Wish::Write { skip_refused, .. } if compared.may_be_written(*skip_refused) => {
                let (found, written) = compared.write().await?;
                tracing::info!(rows = written.written, "Imported a warranty list");
                Ok(Outcome { found, hash, applied: true })
            }
            _ => Ok(Outcome { found: compared.found, hash, applied: false }),
        }
    }
}

//! A list that comes over the wire: seen first, then, the same one, written.

use std::io::{Cursor, Error};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{Found, ListError, WarrantyList};
use crate::app::App;
use crate::domain::TenantId;
use crate::domain::text::hex;
use crate::store::warranty_import::ImportError;

/// Refused rows that are told one by one.
const SHOWN: usize = 200;

/// What is to become of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Compared, and nothing else.
    DryRun,
    /// Written, if it is the list that was seen and no row is refused, or the others are wanted all the same.
    Write { hash: String, skip_refused: bool },
}

/// What came of a list.
#[derive(Debug)]
pub struct Outcome {
    pub found: Found,
    /// Of the file, in hexadecimal digits: SHA-256.
    pub hash: String,
    /// Whether the shop now has what the list says.
    pub applied: bool,
}

/// Why nothing came of it. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("this is not the list that was seen")]
    OtherFile,
    #[error(transparent)]
    List(#[from] ListError),
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl App {
    /// Compares the list with what the shop has and, if that is wished and nothing stands in the way, writes it: all of it, or nothing.
    pub async fn take_warranty_list(
        &self,
        tenant: &TenantId,
        file: Bytes,
        wish: &Wish,
    ) -> Result<Outcome, UploadError> {
        // Both take long enough to hold other requests up.
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
                tracing::info!(rows = written.written, "A list of warranties was written");
                Ok(Outcome { found, hash, applied: true })
            }
            _ => Ok(Outcome { found: compared.found, hash, applied: false }),
        }
    }
}

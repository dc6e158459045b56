//! Keeps the vectors of a shop's documents up to date.

use std::sync::PoisonError;

use chrono::Utc;

use super::{Knowledge, LastSync};
use crate::providers::vector::{Collection, VectorError};
use crate::retrieval::Shelf;
use crate::retrieval::calibration::Calibration;
use crate::retrieval::library::collection_name;
use crate::retrieval::sync::{Progress, SyncError, SyncReport, Target, sync};

impl Knowledge {
    pub(super) fn collection(&self, folder: &str) -> Collection {
        let name = collection_name(&self.knowledge.collection, folder);
        Collection { tenant: self.tenant.clone(), name }
    }

    /// Updates the vectors to the documents that were read. A folder that fails does not stop the others.
    ///
    /// # Errors
    /// The first error of [`sync`]. Batches that were stored stay stored.
    pub async fn sync(&self) -> Result<Vec<SyncReport>, SyncError> {
        let reports = self.sync_shelves().await;
        *self.last_sync.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastSync::of(Utc::now(), &reports));
        reports
    }

    async fn sync_shelves(&self) -> Result<Vec<SyncReport>, SyncError> {
        let shelves = self.shelves.load_full();
        let (mut reports, mut failed) = (Vec::new(), None);
        for (folder, shelf) in &shelves.library.shelves {
            match self.sync_shelf(self.collection(folder), shelf).await {
                Ok(report) => reports.push(report),
                Err(cause) => failed = failed.or(Some(cause)),
            }
        }
        failed.map_or(Ok(reports), Err)
    }

    async fn sync_shelf(&self, collection: Collection, shelf: &Shelf) -> Result<SyncReport, SyncError> {
        let target = Target {
            index: self.vectors.as_ref(),
            embedder: &self.embedder,
            collection: &collection,
            batch: self.config.batch,
        };
        let report = sync(&target, shelf, &|_: Progress| {}).await?;
        self.calibrate(collection, shelf).await?;
        Ok(report)
    }

    /// Calibrates with the existing vectors and adds none, for a process next to the server that maintains them.
    ///
    /// # Errors
    /// The index does not answer.
    pub async fn look_at_vectors(&self) -> Result<(), VectorError> {
        let shelves = self.shelves.load_full();
        for (folder, shelf) in &shelves.library.shelves {
            self.calibrate(self.collection(folder), shelf).await?;
        }
        Ok(())
    }

    async fn calibrate(&self, collection: Collection, shelf: &Shelf) -> Result<(), VectorError> {
        let calibration = Calibration::of(self.vectors.as_ref(), &collection, shelf).await?;
        let mut calibrations = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        match calibration {
            Some(calibration) => calibrations.insert(collection.name, calibration),
            None => calibrations.remove(&collection.name),
        };
        Ok(())
    }
}

//! Removing erased text from SQLite's files.

use std::time::Duration;

use sea_orm::{ConnectionTrait, Statement};
use tokio::time::sleep;

use crate::store::{Store, StoreError, sqlite_path};

/// How often the log is emptied before the next erasure has to do it, and how long to wait in between.
const ATTEMPTS: u32 = 20;
const WAIT: Duration = Duration::from_millis(100);
/// How long one attempt keeps those who write waiting for those who read, in milliseconds.
const BUSY_MS: u32 = 100;

impl Store {
    /// Empties SQLite's write-ahead log into the database, where `secure_delete` has overwritten what was erased. `false`:
    /// somebody read all the time, and the log keeps it until the next checkpoint.
    pub async fn truncate_log(&self) -> Result<bool, StoreError> {
        let Some(mut log) = sqlite_path(&self.url)?.map(std::path::PathBuf::into_os_string) else { return Ok(true) };
        log.push("-wal");
        let asked = Statement::from_string(self.write.get_database_backend(), "PRAGMA busy_timeout");
        let usual = self.write.query_one_raw(asked).await?.map(|row| row.try_get_by_index::<i32>(0)).transpose()?;
        let usual = usual.unwrap_or_default();
        // One call, so that no other statement meets the short timeout.
        let statements =
            format!("PRAGMA busy_timeout = {BUSY_MS}; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = {usual}");
        for _ in 0..ATTEMPTS {
            self.write.execute_unprepared(&statements).await?;
            let size = tokio::fs::metadata(&log).await.map_or(0, |file| file.len());
            if size == 0 {
                return Ok(true);
            }
            sleep(WAIT).await;
        }
        Ok(false)
    }
}

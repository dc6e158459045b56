//! The schema's history. A migration that has landed is never edited; a new one is added.

use sea_orm_migration::prelude::*;

mod m0001_initial;
mod m0002_durable;
mod m0003_vectors;
mod m0005_jobs;
mod m0006_handoff;
mod m0007_persona_versions;
mod m0008_orders;
mod m0010_console_audit;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_initial::Migration),
            Box::new(m0002_durable::Migration),
            Box::new(m0003_vectors::Migration),
            Box::new(m0005_jobs::Migration),
            Box::new(m0006_handoff::Migration),
            Box::new(m0007_persona_versions::Migration),
            Box::new(m0008_orders::Migration),
            Box::new(m0010_console_audit::Migration),
        ]
    }
}

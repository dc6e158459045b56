//! `upsert-warranty --file warranty.csv`: imports a list of warranties.

use std::process::ExitCode;

/// A list has millions of short texts.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    frontdesk::cli::upsert_warranty::main()
}

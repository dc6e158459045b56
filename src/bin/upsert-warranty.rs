//! `upsert-warranty --file warranty.csv`: imports a list of warranties.

use std::process::ExitCode;

/// A list has millions of short texts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    frontdesk::cli::upsert_warranty::main()
}

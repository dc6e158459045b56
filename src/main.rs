//! The `frontdesk` program: the server and its commands.

use std::process::ExitCode;

/// jemalloc returns the memory of readers that have left to the system. mimalloc keeps most of it (`scripts/bench readers`).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    frontdesk::cli::main()
}

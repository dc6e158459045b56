//! The `frontdesk` program: the server and its commands.

use std::process::ExitCode;

/// mimalloc needs a third less memory per waiting reader than the system's allocator (`scripts/bench readers`), since a server keeps
/// thousands of small allocations for hours.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    frontdesk::cli::main()
}

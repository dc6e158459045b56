//! frontdesk: serves customers, and the commands around it.

use std::process::ExitCode;

/// A server keeps thousands of small things for hours: with the system's allocator a reader that waits costs half as
/// much again (`scripts/bench-readers`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    frontdesk::cli::main()
}

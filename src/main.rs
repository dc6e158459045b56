//! frontdesk: serves customers, and the commands around it.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontdesk::cli::main()
}

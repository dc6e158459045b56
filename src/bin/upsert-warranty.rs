//! `upsert-warranty --file warranty.csv`: imports a list of warranties.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontdesk::cli::upsert_warranty::main()
}

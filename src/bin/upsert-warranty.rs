//! `upsert-warranty --file warranty.csv`: brings a list of warranties into the shop's database.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontdesk::cli::upsert_warranty::main()
}

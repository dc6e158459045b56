//! A database that a newer version has updated.

use std::collections::BTreeSet;

use sea_orm::sqlx::{self, Connection, SqliteConnection};

use super::shop::Shop;

/// Every command that uses the database.
const COMMANDS: &[&[&str]] = &[
    &["serve"],
    &["chat"],
    &["doctor"],
    &["index", "--dry-run"],
    &["eval", "conversations"],
    &["seed", "returns"],
    &["import", "orders", "--file", "orders.csv"],
    &["import", "policies", "--file", "policies.csv"],
    &["import", "catalog", "--file", "catalog.csv"],
    &["rma", "advance", "RMA-1-AAAA", "received"],
    &["refund", "list"],
    &["tenant", "list"],
    &["customer", "export", "--user", "u-1"],
    &["upsert-warranty", "--file", "knowledge/warranty.csv"],
    &["upsert-warranty", "--dry-run", "--file", "knowledge/warranty.csv"],
];

/// The names in the list of commands, without those that need no database.
fn listed_commands(help: &str) -> BTreeSet<&str> {
    let lines = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    let names = names.filter_map(|line| line.split(' ').next());
    names.filter(|name| !["", "openapi", "help"].contains(name)).collect()
}

fn refuses(shop: &Shop, command: &[&str]) {
    let run = shop.run(command, &[]);
    let said = run.stdout.clone() + &run.stderr;
    assert_ne!(run.code, Some(0), "{command:?}: {run:?}");
    assert!(said.contains("its migration m9999_future is unknown to this version"), "{command:?}: {run:?}");
    assert!(said.contains("install that version or a later one, or restore the backup"), "{command:?}: {run:?}");
}

#[tokio::test]
async fn every_command_refuses_a_newer_schema() {
    let shop = Shop::new();
    let tested: BTreeSet<&str> = COMMANDS.iter().map(|command| command[0]).collect();
    let help = shop.run(&["--help"], &[]).stdout;
    assert_eq!(tested, listed_commands(&help), "{help}");
    let orders = "order_number,customer_email,customer_name,status,ordered_at,currency,item_name,unit_price\n";
    shop.write("orders.csv", orders);
    shop.write("policies.csv", "name,scope,category,return_days,refund_days\nAll,general,,30,10\n");
    shop.write("catalog.csv", "item_id,name,category,price,stock\n");
    assert_eq!(shop.run(&["seed", "returns"], &[]).code, Some(0));
    let url = format!("sqlite://{}", shop.path("database/frontdesk.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql("INSERT INTO seaql_migrations VALUES ('m9999_future', 0)").execute(&mut connection).await.unwrap();
    // These three lock the database; the others can run at the same time.
    let (locking, others) = COMMANDS.split_at(3);
    locking.iter().for_each(|command| refuses(&shop, command));
    let shop = &shop;
    std::thread::scope(|scope| {
        for command in others {
            scope.spawn(move || refuses(shop, command));
        }
    });
}

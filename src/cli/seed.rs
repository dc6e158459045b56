//! `seed`: fills a shop with samples, to try things out.

use anyhow::bail;
use chrono::Utc;
use clap::Subcommand;

use crate::config::Config;
use crate::domain::TenantId;
use crate::store::sample_shop::Sampling;
use crate::store::{Store, StoreOptions};

pub mod sample;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Customers, orders in every state, policies and RMAs for the returns desk: the same ones on every machine, with dates
    /// relative to today. Made again, they start over
    Returns {
        /// The shop that gets them
        #[arg(long, value_name = "NAME", default_value_t)]
        tenant: TenantId,
        /// Make them beside the shop's own orders, which stay as they are
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command, and prints what it made.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let What::Returns { tenant, force } = &args.what;
    let options = StoreOptions { url: config.store.url, timeout: config.store.timeout, connections: 1 };
    let store = Store::open(&options).await?;
    let shop = sample::shop(tenant, Utc::now(), config.returns.time_zone);
    match store.tenant(tenant).make_sample(&shop, *force).await? {
        Sampling::Done { policies } => {
            let customers: std::collections::BTreeSet<_> = shop.orders.iter().map(|order| order.customer.id).collect();
            let (orders, rmas) = (shop.orders.len(), shop.rmas.len());
            println!("{} customers, {orders} orders, {} policies, {rmas} RMAs", customers.len(), shop.policies.len());
            if !policies {
                println!(
                    "the samples' policies were not written: a shop with orders or policies of its own goes on without them"
                );
            }
            println!("try order 77893 with john.doe@example.com, or 77894 with buyer-77894@example.com");
            Ok(())
        }
        Sampling::RealOrders(count) => bail!(
            "the shop {tenant} has {count} orders of its own, and nothing was written; \
             name another shop with --tenant, or mix samples among them with --force"
        ),
        Sampling::NumberTaken(number) => bail!(
            "order {number} of the shop {tenant} belongs to another customer than the sample's, and nothing was written; \
             name another shop with --tenant"
        ),
    }
}

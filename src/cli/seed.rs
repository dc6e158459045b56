//! `frontdesk seed`: creates sample data for trying things out.

use anyhow::bail;
use chrono::Utc;
use clap::Subcommand;

use super::open_store;
use crate::config::Config;
use crate::domain::TenantId;
use crate::store::sample_shop::Sampling;

pub mod sample;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Create customers, orders in every status, policies and RMAs for the returns desk. They are the same on every machine, with
    /// dates relative to today. Running it again resets them
    Returns {
        /// The shop to fill
        #[arg(long, value_name = "NAME", default_value_t)]
        tenant: TenantId,
        /// Add the samples to a shop that has orders, which stay unchanged
        #[arg(long)]
        force: bool,
    },
}

/// Runs the command and prints what it created.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let What::Returns { tenant, force } = &args.what;
    let store = open_store(&config).await?;
    let shop = sample::shop(tenant, Utc::now(), config.shops.time_zone_of(tenant));
    match store.tenant(tenant).make_sample(&shop, *force).await? {
        Sampling::Done { policies } => {
            let customers: std::collections::BTreeSet<_> = shop.orders.iter().map(|order| order.customer.id).collect();
            let (orders, rmas) = (shop.orders.len(), shop.rmas.len());
            println!("{} customers, {orders} orders, {} policies, {rmas} RMAs", customers.len(), shop.policies.len());
            if !policies {
                println!(
                    "kept the shop's own policies: sample policies are written only to a shop without orders and policies"
                );
            }
            println!("Try order 77893 with john.doe@example.com, or 77894 with buyer-77894@example.com.");
            Ok(())
        }
        Sampling::RealOrders(count) => bail!(
            "nothing was written: the shop {tenant} already has {count} orders. \
             Name another shop with --tenant, or add the samples to it with --force"
        ),
        Sampling::NumberTaken(number) => bail!(
            "nothing was written: order {number} of the shop {tenant} belongs to another customer. \
             Name another shop with --tenant"
        ),
    }
}

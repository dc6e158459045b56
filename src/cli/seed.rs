//! `frontdesk seed`: creates sample data for trying things out.

use anyhow::bail;
use chrono::Utc;
use clap::Subcommand;

use super::open_store;
use crate::config::Config;
use crate::domain::TenantId;
use crate::store::Store;
use crate::store::samples::{SampledAccounts, SampledTenants, Sampling};

pub mod accounts;
pub mod commerce;
pub mod sample;

#[derive(Clone, Debug, Subcommand)]
pub enum What {
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
    /// Create plans, accounts and invoices of a telecom operator. They are the same on every machine. Running it again resets them
    Telecom {
        /// The shop to fill
        #[arg(long, value_name = "NAME", default_value_t)]
        tenant: TenantId,
    },
    /// Create two shops that sell over WhatsApp, savanna and kijani, with like-named goods. The default shop, for which the chat
    /// page and `frontdesk chat` speak, is the first of them once more. Running it again resets them
    Commerce,
}

/// Runs the command and prints what it created.
pub async fn run(config: Config, what: &What) -> anyhow::Result<()> {
    let store = open_store(&config).await?;
    match what {
        What::Returns { tenant, force } => seed_orders(&config, &store, tenant, *force).await,
        What::Telecom { tenant } => seed_accounts(&store, tenant).await,
        What::Commerce => seed_shops(&store).await,
    }
}

async fn seed_orders(config: &Config, store: &Store, tenant: &TenantId, force: bool) -> anyhow::Result<()> {
    let shop = sample::shop(tenant, Utc::now(), config.shops.time_zone_of(tenant));
    match store.tenant(tenant).make_sample(&shop, force).await? {
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

async fn seed_accounts(store: &Store, tenant: &TenantId) -> anyhow::Result<()> {
    let sample = accounts::accounts();
    match store.tenant(tenant).make_sample_accounts(&sample).await? {
        SampledAccounts::Done => {
            let (plans, customers) = (sample.plans.len(), sample.subscriptions.len());
            println!("{plans} plans, {customers} customers, {} invoices", sample.invoices.len());
            println!("Try customer u123 with invoice INV-12345, or u456 with INV-45601.");
            Ok(())
        }
        SampledAccounts::RealAccounts(count) => bail!(
            "nothing was written: the shop {tenant} already has {count} other plans, subscriptions or invoices. \
             Name another shop with --tenant"
        ),
    }
}

async fn seed_shops(store: &Store) -> anyhow::Result<()> {
    let shops = commerce::shops(Utc::now())?;
    match store.make_sample_tenants(&shops).await? {
        SampledTenants::Done => {
            for shop in &shops {
                println!("{}: {}, {} items", shop.id, shop.settings.name, shop.items.len());
            }
            println!(
                "List their settings with `frontdesk tenant list`. Try `frontdesk chat --persona commerce_en --phone +254700000001`."
            );
            Ok(())
        }
        SampledTenants::RealShop(tenant) => bail!(
            "nothing was written: the shop {tenant} has another name, a WhatsApp number, credentials or other items. \
             Use a database without a shop of that name"
        ),
    }
}

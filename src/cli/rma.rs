//! `frontdesk rma`: advances RMAs and resolves escalations.

use anyhow::bail;
use chrono::Utc;
use clap::{Subcommand, ValueEnum};

use super::open_store;
use crate::config::Config;
use crate::domain::returns::{DamageWords, Resolution, RmaNumber, RmaStatus, TrackingNumber};
use crate::domain::text::clean;
use crate::domain::{ActorKind, TenantId};
use crate::store::audit::Actor;
use crate::store::returns::advance::{Advance, LabelOutcome};
use crate::store::returns::resolve::{Resolving, Verdict};

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The shop of the RMA
    #[arg(long, value_name = "NAME", default_value_t, global = true)]
    tenant: TenantId,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Set the next status of an RMA
    Advance {
        /// The RMA's number, such as RMA-1701234567-ABCD
        rma: RmaNumber,
        /// The next status: label_sent, in_transit, received, inspected, approved or rejected, refunded or processed
        #[arg(value_parser = status)]
        to: RmaStatus,
        /// The person who sets it, for the audit log
        #[arg(long, value_name = "NAME", default_value = "operator")]
        by: String,
    },
    /// Resolve an escalation or a cancellation. The customer receives the decision in the chat
    Resolve {
        /// The number of the ticket or its RMA
        id: String,
        decision: Decided,
        /// The person who decides, for the audit log
        #[arg(long, value_name = "NAME", value_parser = written)]
        by: String,
        /// The reason, for the audit log. With more-info, the question to the customer
        #[arg(long, value_name = "TEXT", value_parser = written)]
        why: String,
    },
}

/// Parses a text that must not be empty, and cleans it.
pub(super) fn written(text: &str) -> Result<String, String> {
    let text = clean(text);
    let text = text.trim();
    if text.is_empty() { Err("the text is empty: write at least one word".to_owned()) } else { Ok(text.to_owned()) }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Decided {
    /// Create the requested return, or unlock the RMA
    Approve,
    /// Refuse the return. A locked RMA is rejected unless it was decided before
    Reject,
    /// Ask the customer the question in --why. The ticket stays open and the RMA locked
    MoreInfo,
}

impl From<Decided> for Resolution {
    fn from(decided: Decided) -> Self {
        match decided {
            Decided::Approve => Self::Approve,
            Decided::Reject => Self::Reject,
            Decided::MoreInfo => Self::MoreInfo,
        }
    }
}

fn status(text: &str) -> Result<RmaStatus, String> {
    let known = || RmaStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>().join(", ");
    RmaStatus::parse(&text.replace('-', "_")).ok_or_else(|| format!("expected one of {}", known()))
}

/// Runs the command and prints the result.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let store = open_store(&config).await?;
    let door = store.tenant(&args.tenant);
    let by = |who| Actor { kind: ActorKind::Person, who, conversation: None, now: Utc::now() };
    match &args.what {
        What::Advance { rma, to: RmaStatus::LabelSent, by: who } => {
            match door.issue_label(rma, &TrackingNumber::new(rand::random()), &by(who)).await? {
                LabelOutcome::Issued(label) => {
                    println!("{rma} is now {}, with the label {}", RmaStatus::LabelSent, label.tracking);
                }
                LabelOutcome::Repeated(label) => bail!("{rma} already has a label: {}", label.tracking),
                LabelOutcome::Refused(refusal) => bail!("{refusal}"),
                LabelOutcome::NotFound => {
                    bail!("the shop {} has no {rma}: name another shop with --tenant", args.tenant)
                }
            }
        }
        What::Advance { rma, to, by: who } => match door.advance_rma(rma, *to, &by(who)).await? {
            Advance::Done(rma) => println!("{} of order {} is now {}", rma.number, rma.order, rma.status),
            Advance::Refused(refusal) => bail!("{refusal}"),
            Advance::NotFound => bail!("the shop {} has no {rma}: name another shop with --tenant", args.tenant),
        },
        What::Resolve { id, decision, by: who, why } => {
            let decision = (*decision).into();
            let zone = config.shops.time_zone_of(&args.tenant);
            let terms = config.returns.terms(DamageWords::default(), zone);
            let verdict = Verdict { decision, why, terms: &terms, random: rand::random() };
            match door.resolve_escalation(&id.trim().to_ascii_uppercase(), &verdict, &by(who)).await? {
                Resolving::Done(ticket, rmas) => {
                    println!("{}: {decision}, by {who}", ticket.id);
                    for rma in rmas {
                        let lock = if rma.escalated { "locked" } else { "not locked" };
                        println!("{} of order {} is {}, {lock}", rma.number, rma.order, rma.status);
                    }
                }
                Resolving::Resolved(ticket) => match ticket.resolved {
                    Some(earlier) => {
                        bail!("{} was already resolved: {}, by {}", ticket.id, earlier.decision, earlier.by)
                    }
                    None => bail!("{} was already resolved", ticket.id),
                },
                refusal @ (Resolving::Refused(_) | Resolving::BadAmounts) => bail!("{}", refusal.why_not(id)),
                Resolving::NotFound => {
                    bail!(
                        "the shop {} has no escalation or cancellation {id}: name another shop with --tenant",
                        args.tenant
                    )
                }
            }
        }
    }
    Ok(())
}

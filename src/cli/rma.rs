//! `rma`: what happens to goods that come back, and what people decide about them.

use anyhow::bail;
use chrono::Utc;
use clap::{Subcommand, ValueEnum};

use crate::config::Config;
use crate::domain::TenantId;
use crate::domain::returns::{DamageWords, Hand, Resolution, RmaNumber, RmaStatus, TrackingNumber};
use crate::store::returns::By;
use crate::store::returns::advance::{Advance, LabelOutcome};
use crate::store::returns::resolve::{Resolving, Verdict};
use crate::store::{Store, StoreOptions};

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The shop whose RMA it is
    #[arg(long, value_name = "NAME", default_value_t, global = true)]
    tenant: TenantId,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// Take the next step of an RMA
    Advance {
        /// Its number, such as RMA-1701234567-ABCD
        rma: RmaNumber,
        /// Its next state: label_sent, in_transit, received, inspected, approved or rejected, refunded or processed
        #[arg(value_parser = status)]
        to: RmaStatus,
        /// Who takes the step
        #[arg(long, value_name = "NAME", default_value = "operator")]
        by: String,
    },
    /// Decide on an escalation. The customer reads the decision in the chat and in a mail
    Resolve {
        /// The number of the ticket, or of its RMA
        id: String,
        decision: Decided,
        /// Who decides
        #[arg(long, value_name = "NAME")]
        by: String,
        /// Why, for the audit log; with more-info, the question that the customer reads
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Decided {
    /// Make the return that the ticket asks for; a locked RMA continues
    Approve,
    /// Keep the return refused; a locked RMA is rejected, unless it is decided already
    Reject,
    /// Ask the customer the question in --why; the ticket stays open and the RMA locked
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
    RmaStatus::parse(&text.replace('-', "_")).ok_or_else(|| format!("it is none of {}", known()))
}

/// Runs the command, and prints what came of it.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let options = StoreOptions { url: config.store.url, timeout: config.store.timeout, connections: 1 };
    let store = Store::open(&options).await?;
    let door = store.tenant(&args.tenant);
    let by = |who| By { hand: Hand::Person, who, conversation: None, now: Utc::now() };
    match &args.what {
        What::Advance { rma, to: RmaStatus::LabelSent, by: who } => {
            match door.issue_label(rma, &TrackingNumber::new(rand::random()), &by(who)).await? {
                LabelOutcome::Issued(label) => {
                    println!("{rma} is {} now, with the label {}", RmaStatus::LabelSent, label.tracking);
                }
                LabelOutcome::Repeated(label) => bail!("{rma} has its label already: {}", label.tracking),
                LabelOutcome::Refused(refusal) => bail!("{refusal}"),
                LabelOutcome::NotFound => bail!("the shop {} has no {rma}; --tenant names another shop", args.tenant),
            }
        }
        What::Advance { rma, to, by: who } => match door.advance_rma(rma, *to, &by(who)).await? {
            Advance::Done(rma) => println!("{} of order {} is {} now", rma.number, rma.order, rma.status),
            Advance::Refused(refusal) => bail!("{refusal}"),
            Advance::NotFound => bail!("the shop {} has no {rma}; --tenant names another shop", args.tenant),
        },
        What::Resolve { id, decision, by: who, why } => {
            let decision = (*decision).into();
            let terms = config.returns.terms(DamageWords::default());
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
                        bail!("{} was decided already: {}, by {}", ticket.id, earlier.decision, earlier.by)
                    }
                    None => bail!("{} was decided already", ticket.id),
                },
                refusal @ (Resolving::Refused(_) | Resolving::BadAmounts) => bail!("{}", refusal.why_not(id)),
                Resolving::NotFound => {
                    bail!("the shop {} has no escalation {id}; --tenant names another shop", args.tenant)
                }
            }
        }
    }
    Ok(())
}

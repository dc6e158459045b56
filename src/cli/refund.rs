//! `frontdesk refund`: lists and decides refund cases.

use anyhow::bail;
use chrono::Utc;
use clap::Subcommand;

use super::open_store;
use super::rma::written;
use crate::config::Config;
use crate::domain::telecom::{CaseId, RefundCase, Verdict};
use crate::domain::{ActorKind, TenantId};
use crate::store::audit::Actor;
use crate::store::refund_cases::Deciding;

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The shop of the case
    #[arg(long, value_name = "NAME", default_value_t, global = true)]
    tenant: TenantId,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// List the cases that wait for a decision, newest first
    List {
        /// List all cases of this customer instead: the `user_id`
        #[arg(long, value_name = "ID")]
        user: Option<String>,
    },
    /// Approve a case. The customer receives the decision in the chat
    Approve(Decision),
    /// Reject a case. The customer receives the decision in the chat, without the reason
    Reject(Decision),
}

#[derive(Clone, Debug, clap::Args)]
struct Decision {
    /// The case's number, such as R10001
    case: CaseId,
    /// The person who decides, for the audit log
    #[arg(long, value_name = "NAME", value_parser = written)]
    by: String,
    /// The reason, for the audit log
    #[arg(long, value_name = "TEXT", value_parser = written)]
    why: String,
}

/// Runs the command and prints the result.
pub async fn run(config: Config, args: &Args) -> anyhow::Result<()> {
    let store = open_store(&config).await?;
    let store = store.tenant(&args.tenant);
    let (decision, verdict) = match &args.what {
        What::List { user } => {
            let cases = match user {
                Some(user) => store.list_refund_cases_of(user).await?,
                None => store.list_open_refund_cases().await?,
            };
            cases.iter().for_each(|case| println!("{}", line(case)));
            if cases.is_empty() {
                println!("no cases");
            }
            return Ok(());
        }
        What::Approve(decision) => (decision, Verdict::Approve),
        What::Reject(decision) => (decision, Verdict::Reject),
    };
    let by = Actor { kind: ActorKind::Person, who: &decision.by, conversation: None, now: Utc::now() };
    match store.decide_refund_case(decision.case, verdict, &decision.why, &by).await? {
        Deciding::Done(case) => println!("{}", line(&case)),
        Deciding::Decided(case) => bail!("{} was already decided: {}", case.id, case.status),
        Deciding::NotFound => {
            bail!("the shop {} has no case {}: name another shop with --tenant", args.tenant, decision.case)
        }
    }
    Ok(())
}

fn line(case: &RefundCase) -> String {
    let RefundCase { id, status, amount, invoice, user_id, reason, eta, .. } = case;
    format!("{id}  {status}  {amount}  invoice {invoice} of {user_id}  {reason}  decide by {eta}")
}

//! What a message asks for.

use serde::{Deserialize, Serialize};

/// What a billing message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::desks) enum Topic {
    Subscription,
    Invoices,
    Refund,
    Policy,
    CaseStatus,
    /// The open request: the details so far, what happens next, whether the case is open.
    Progress,
    /// Something else in the case that was opened.
    Correction,
    /// A part of a refund by its name: "the reason".
    Field,
    /// How much data the plan has.
    Allowance,
    /// What invoices are together.
    Total,
    /// How plans differ in price.
    Difference,
    /// The plan with the lowest price, the highest, and those with a lower or a higher one than the customer's.
    Smallest,
    Largest,
    Smaller,
    Larger,
    /// A money matter that the desk does not handle.
    OutOfScope,
    /// That somebody of the shop does something: sends a technician, changes a setting.
    Staff,
    /// That somebody comes: a technician.
    Visit,
    /// Nothing: the advice was followed and did not help.
    Tried,
    /// Nothing: the problem is solved.
    Solved,
    /// Nothing: the customer does not know.
    Unsure,
    /// What the desk can do.
    Abilities,
    /// A fault without saying of what: "it doesn't work".
    Vague,
    /// How much, how many, how long, or when.
    Quantity,
    /// Where something is.
    Place,
    /// What can be done besides what was done: "what else can I try?".
    MoreWays,
    /// What was talked about last: "how much is it?".
    Pointing,
    /// Nothing: an explicit yes, which is more than "ok".
    Consent,
}

//! Sums that a customer asks for: the total of invoices, and how the prices of plans differ.

use crate::desks::telecom::Telecom;
use crate::desks::telecom::rules::{Parsed, Topic};
use crate::desks::telecom::texts::Text;
use crate::dialogue::{DeskError, Turn};
use crate::domain::commerce::{Currency, Money};
use crate::domain::telecom::{Account, Invoice, Plan};
use crate::replies::MissingValue;

impl Telecom {
    /// Returns those of the listed invoices that the message asks about: the ones that it names, else all of them.
    pub(super) fn meant_invoices(&self, turn: &Turn, account: &Account) -> Vec<Invoice> {
        let parsed = self.rules.parse(&turn.message.text);
        let asks = parsed.utterance.asks(Topic::Invoices) || parsed.utterance.asks(Topic::Total);
        let is_named = |invoice: &&Invoice| asks && parsed.said.names_invoice(&invoice.number);
        let named: Vec<Invoice> = account.invoices.iter().filter(is_named).cloned().collect();
        if named.is_empty() { account.invoices.clone() } else { named }
    }

    /// Returns the invoices with what they are together.
    pub(super) fn total(&self, turn: &Turn, account: &Account) -> Result<String, MissingValue> {
        let meant = self.meant_invoices(turn, account);
        let list = self.invoices(turn, &meant)?;
        let total = meant.iter().try_fold(Money::zero(Currency::Pln), |sum, invoice| sum.plus(invoice.amount));
        match total {
            Ok(total) if meant.len() > 1 => {
                let total = self.text(turn, Text::InvoicesTotal, &[("total", &self.money(turn, total))])?;
                Ok(format!("{list}\n{total}"))
            }
            _ => Ok(list),
        }
    }

    /// Returns how the prices of the plans that a question names differ from the customer's. `None` if it asks nothing of that kind.
    pub(super) async fn plan_differences(
        &self,
        turn: &Turn,
        parsed: &Parsed,
        user_id: &str,
    ) -> Result<Option<String>, DeskError> {
        let utterance = &parsed.utterance;
        let asks = utterance.has_question() || utterance.asks(Topic::Quantity);
        let asks = asks && utterance.asks(Topic::Difference);
        let is_of_bill = [Topic::Refund, Topic::Invoices, Topic::Total].into_iter().any(|topic| utterance.asks(topic));
        if !asks || is_of_bill || parsed.said.is_concrete() {
            return Ok(None);
        }
        let Some(account) = self.store_of(turn).find_account(user_id).await? else { return Ok(None) };
        let own = account.subscription.plan;
        let mut plans = self.store_of(turn).list_plans().await?;
        let codes: Vec<String> = plans.iter().map(|plan| plan.code.clone()).collect();
        plans.retain(|plan| plan.code != own.code);
        let is_meant = |plan: &&Plan| {
            names(&utterance.text, &plan.code)
                || codes.first() == Some(&plan.code) && utterance.asks(Topic::Smallest)
                || codes.last() == Some(&plan.code) && utterance.asks(Topic::Largest)
                || plan.price_monthly.minor < own.price_monthly.minor && utterance.asks(Topic::Smaller)
                || plan.price_monthly.minor > own.price_monthly.minor && utterance.asks(Topic::Larger)
        };
        let meant = plans.iter().filter(is_meant);
        let lines: Vec<String> = meant.map(|plan| self.plan_difference(turn, plan, &own)).collect::<Result<_, _>>()?;
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    fn plan_difference(&self, turn: &Turn, plan: &Plan, own: &Plan) -> Result<String, MissingValue> {
        let (price, own_price) = (plan.price_monthly, own.price_monthly);
        let text = if price.minor > own_price.minor { Text::PlanMore } else { Text::PlanLess };
        let difference = Money::new((price.minor - own_price.minor).abs(), price.currency);
        let [price, own_price, difference] = [price, own_price, difference].map(|amount| self.money(turn, amount));
        let values = [
            ("plan", plan.name.as_str()),
            ("own", &own.name),
            ("price", &price),
            ("own_price", &own_price),
            ("difference", &difference),
        ];
        self.text(turn, text, &values)
    }
}

/// Whether a text names a plan by its code: "plan L", and not the end of "what's".
fn names(text: &str, code: &str) -> bool {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    words.into_iter().any(|word| word.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_whole_words() {
        assert!(names("how much more is L?", "L") && names("and s", "S"));
        assert!(!names("what's it in small", "S") && !names("I'm asking", "M"));
    }
}

//! Words what is computed of products: sums, monthly amounts, and whether two fit together.

use super::super::Retail;
use super::super::memory::Bundle;
use super::super::products::FitTogether;
use super::super::texts::Text;
use crate::desks::Turn;
use crate::dialogue::{answer, attribute};
use crate::nlu::instalments::Plan;
use crate::replies::MissingValue;
use crate::retrieval::Passage;
use crate::retrieval::catalogue::money;

/// More pieces of one product are not added up. A larger number is probably a model that the catalogue does not have: "rtx 4060 con này bao nhiêu".
const MOST_PIECES: u64 = 999;

impl Retail {
    /// Says whether two products fit together, and quotes their rows.
    pub(super) fn quote_fit(
        &self,
        turn: &Turn,
        fit: &FitTogether,
        passages: &[Passage],
    ) -> Result<String, MissingValue> {
        let ([name, other], [value, of_other]) = (&fit.names, &fit.values);
        let values: [(&str, &str); 4] = [("name", name), ("other", other), ("value", value), ("of_other", of_other)];
        let text = if fit.fits { Text::ReplyFits } else { Text::ReplyFitsNot };
        Ok(answer::quotation(self.text(turn, text, &values)?, self.quotes(turn, passages)?.into_iter()))
    }

    /// Says what a product costs each month.
    pub(super) fn quote_plans(
        &self,
        turn: &Turn,
        plans: &[Plan],
        passages: &[Passage],
    ) -> Result<String, MissingValue> {
        let rows = self.services.knowledge.rows_of(&turn.persona.knowledge, passages, turn.language());
        let Some(row) = rows.first() else { return Ok(String::new()) };
        let price = money(row.price.unwrap_or_default());
        let intro = self.text(turn, Text::ReplyPlans, &[("name", &row.passage.title), ("price", &price)])?;
        let mut lines = Vec::new();
        for plan in plans {
            let (months, monthly, fee) = (plan.months.to_string(), money(plan.monthly), money(plan.fee));
            let (down, loan, interest) = (money(plan.down), money(plan.loan), money(plan.interest));
            let all_interest = money(plan.interest * plan.months);
            let text = match (plan.interest, plan.fee) {
                (0, 0) => Text::ReplyPlanFree,
                (0, _) => Text::ReplyPlanFee,
                _ => Text::ReplyPlanLoan,
            };
            let values: [(&str, &str); 7] = [
                ("months", &months),
                ("monthly", &monthly),
                ("fee", &fee),
                ("down", &down),
                ("loan", &loan),
                ("interest", &interest),
                ("all_interest", &all_interest),
            ];
            lines.push(self.text(turn, text, &values)?);
        }
        lines.push(self.text(turn, Text::ReplyPlansEnd, &[])?);
        Ok(answer::quotation(intro, lines.into_iter()))
    }

    /// Adds up the prices of the quoted products, if all have one.
    pub(super) fn total(
        &self,
        turn: &Turn,
        asked: &str,
        passages: &[Passage],
        bundle: Option<&Bundle>,
    ) -> Result<Option<String>, MissingValue> {
        let rows = self.services.knowledge.rows_of(&turn.persona.knowledge, passages, turn.language());
        // A product that replaces one of its parts changes its price.
        let is_part = |bundle: &&Bundle| rows.iter().any(|row| bundle.parts.contains(&row.passage.section));
        let bundle = bundle.filter(|bundle| self.picks.pieces(asked).is_none() && !is_part(bundle));
        let pieces = self.picks.pieces(asked).unwrap_or(1);
        // "Both": the number counts products, not pieces.
        let count = if rows.len() > 1 { 1 } else { pieces };
        if rows.is_empty() || rows.iter().any(|row| row.price.is_none()) || !(1..=MOST_PIECES).contains(&count) {
            return Ok(None);
        }
        let (mut lines, mut sum) = (Vec::new(), 0_u64);
        let bundles = bundle.iter().map(|bundle| (bundle.name.as_str(), 1, bundle.price));
        let of_rows = rows.iter().map(|row| (row.passage.title.as_str(), count, row.price.unwrap_or_default()));
        // "Are both in stock, and what do they cost together?"
        let said = rows.iter().map(|row| {
            let mut said = attribute::parts_said(&self.picks, asked, &row.passage.text);
            said.retain(|part| !part.contains(&money(row.price.unwrap_or_default())));
            said.iter().map(|part| format!("; {part}")).collect::<String>()
        });
        let said = bundle.iter().map(|_| String::new()).chain(said);
        for ((name, count, price), said) in bundles.chain(of_rows).zip(said) {
            sum += price * count;
            let values = [("name", name), ("count", &count.to_string()), ("price", &money(price))];
            lines.push(self.text(turn, Text::ReplyTotalLine, &values)? + &said);
        }
        lines.push(self.text(turn, Text::ReplyTotal, &[("sum", &money(sum))])?);
        Ok(Some(lines.join("\n") + &self.instead(turn, passages)?))
    }
}

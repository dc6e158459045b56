//! Words what is computed of products: sums, monthly amounts, and whether two fit together.

use super::super::Retail;
use super::super::memory::{Bundle, Memory};
use super::super::products::FitTogether;
use super::super::texts::Text;
use super::last_reply;
use crate::desks::Turn;
use crate::dialogue::{answer, attribute};
use crate::nlu::instalments::Plan;
use crate::replies::MissingValue;
use crate::retrieval::Passage;
use crate::retrieval::rows::Row;

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
        Ok(answer::quotation(self.said_fit(turn, fit)?, self.quotes(turn, passages)?.into_iter()))
    }

    /// Says how much more the first of two products costs than the second, and quotes their rows.
    pub(super) fn quote_difference(
        &self,
        turn: &Turn,
        amount: u64,
        [name, other]: [String; 2],
        passages: &[Passage],
    ) -> Result<String, MissingValue> {
        let difference = self.price(turn, amount);
        let values: [(&str, &str); 3] = [("name", &name), ("other", &other), ("difference", &difference)];
        let said = self.text(turn, Text::ReplyDifference, &values)?;
        Ok(answer::quotation(said, self.quotes(turn, passages)?.into_iter()))
    }

    /// Says what a product costs each month.
    pub(super) fn quote_plans(
        &self,
        turn: &Turn,
        plans: &[Plan],
        passages: &[Passage],
    ) -> Result<String, MissingValue> {
        let rows = self.services.pages(turn).rows_of(passages, turn.language());
        let Some(row) = rows.first() else { return Ok(String::new()) };
        let price = self.price(turn, row.price.unwrap_or_default());
        let intro = self.text(turn, Text::ReplyPlans, &[("name", &row.passage.title), ("price", &price)])?;
        let mut lines = Vec::new();
        for plan in plans {
            let (months, monthly, fee) =
                (plan.months.to_string(), self.price(turn, plan.monthly), self.price(turn, plan.fee));
            let (down, loan, interest) =
                (self.price(turn, plan.down), self.price(turn, plan.loan), self.price(turn, plan.interest));
            let all_interest = self.price(turn, plan.interest * plan.months);
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

    /// Says whether two products fit together.
    pub(in super::super) fn said_fit(&self, turn: &Turn, fit: &FitTogether) -> Result<String, MissingValue> {
        let ([name, other], [value, of_other]) = (&fit.names, &fit.values);
        let values: [(&str, &str); 4] = [("name", name), ("other", other), ("value", value), ("of_other", of_other)];
        self.text(turn, if fit.fits { Text::ReplyFits } else { Text::ReplyFitsNot }, &values)
    }

    /// Adds up the prices of the quoted products, if all have one: `pieces` of one product, and of several as many as the customer wanted.
    pub(super) fn total(
        &self,
        turn: &Turn,
        asked: &str,
        passages: &[Passage],
        pieces: Option<u64>,
        memory: &Memory,
    ) -> Result<Option<String>, MissingValue> {
        let mut rows = self.services.pages(turn).rows_of(passages, turn.language());
        let is_swapped = |bundle: &Bundle, row: &Row| bundle.swaps.iter().any(|(_, new)| *new == row.passage.title);
        // A product that replaces one of its parts changes its price.
        let is_part =
            |bundle: &Bundle, row: &Row| bundle.parts.contains(&row.passage.section) && !is_swapped(bundle, row);
        let bundle = memory.bundle.as_ref();
        let bundle = bundle.filter(|bundle| pieces.is_none() && !rows.iter().any(|row| is_part(bundle, row)));
        if let Some(bundle) = bundle {
            rows.retain(|row| !is_swapped(bundle, row));
        }
        // "Both": the number counts products, not pieces.
        let said = pieces.filter(|_| rows.len() == 1);
        let count_of = |row: &Row| said.or_else(|| memory.pieces.get(&row.passage.title).copied()).unwrap_or(1);
        let is_empty = rows.is_empty() && bundle.is_none();
        let is_countable = |row: &Row| row.price.is_some() && (1..=MOST_PIECES).contains(&count_of(row));
        if is_empty || !rows.iter().all(is_countable) {
            return Ok(None);
        }
        let (mut lines, mut sum) = match bundle {
            Some(bundle) => self.bundle_lines(turn, bundle, 1)?,
            None => (Vec::new(), 0),
        };
        for row in &rows {
            let (price, count) = (row.price.unwrap_or_default(), count_of(row));
            sum += price * count;
            let values = [
                ("name", row.passage.title.as_str()),
                ("count", &count.to_string()),
                ("price", &self.price(turn, price)),
            ];
            // "Are both in stock, and what do they cost together?"
            let mut said = attribute::parts_said(&self.picks, asked, &row.passage.text);
            said.retain(|part| !part.contains(&self.price(turn, price)));
            let said: String = said.iter().map(|part| format!("; {part}")).collect();
            lines.push(self.text(turn, Text::ReplyTotalLine, &values)? + &said);
        }
        let fee = self.fee_before(turn);
        if let Some(fee) = fee {
            sum += fee;
            lines.push(self.text(turn, Text::ReplyFee, &[("fee", &self.price(turn, fee))])?);
        }
        let total = if fee.is_some() { Text::ReplyTotalAll } else { Text::ReplyTotal };
        lines.push(self.text(turn, total, &[("sum", &self.price(turn, sum))])?);
        Ok(Some(lines.join("\n") + &self.instead(turn, passages)?))
    }

    /// Says what so many pieces of each product cost, if they have prices.
    pub(super) fn prices_of_each(
        &self,
        turn: &Turn,
        pieces: u64,
        passages: &[Passage],
    ) -> Result<Option<String>, MissingValue> {
        let rows = self.services.pages(turn).rows_of(passages, turn.language());
        let priced = rows.iter().filter_map(|row| Some((row, row.price?)));
        let line = |(row, price): (&Row, u64)| {
            let (count, sum) = (pieces.to_string(), self.price(turn, price * pieces));
            let price = self.price(turn, price);
            let values: [(&str, &str); 4] =
                [("name", &row.passage.title), ("count", &count), ("price", &price), ("sum", &sum)];
            self.text(turn, Text::ReplyEach, &values)
        };
        let lines = priced.map(line).collect::<Result<Vec<_>, _>>()?;
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    /// Returns the fee of the service that the last reply described.
    pub(in super::super) fn fee_before(&self, turn: &Turn) -> Option<u64> {
        self.picks.fee(&last_reply(turn)?.text)
    }
}

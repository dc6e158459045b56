//! What a language model may word of a line.

use super::Speaker;
use crate::desks::commerce::effect::Line;
use crate::desks::commerce::nodes::{Draft, Node};
use crate::grounding::claims::Facts;
use crate::replies::MissingValue;

impl Speaker<'_> {
    /// Returns the draft of a line and its node. `None` for lines that are always texts: questions for an amount, payments, the cart,
    /// and refusals.
    pub(super) fn draft(&self, line: &Line, text: &str) -> Result<Option<(Node, Draft)>, MissingValue> {
        let done = Facts { made: true, handed_over: true, ..Facts::default() };
        let offered = Facts { offered: true, ..Facts::default() };
        let (node, kept, claims) = match line {
            Line::Options { items, link, .. } => {
                let link = link.as_ref().and_then(|search| self.situation.link(search)).unwrap_or_default();
                let kept = vec![("list", self.numbered(items)?), ("link", link)];
                (Node::CatalogPresentOptions, kept, Facts::default())
            }
            Line::SameOptions(items) => {
                (Node::CatalogPresentOptions, vec![("list", self.numbered(items)?)], Facts::default())
            }
            Line::Item(wanted) | Line::Details(wanted, _) | Line::AskChoices(wanted) => {
                let item = if matches!(line, Line::Details(..)) { self.details(wanted)? } else { self.item(wanted)? };
                let kept = vec![("item", item), ("choices", self.choices(wanted)?)];
                (Node::ProductDisambiguate, kept, Facts::default())
            }
            Line::Offers(offers) => (Node::OffersAnswer, vec![("offers", self.offers(offers)?)], offered),
            Line::Orders(orders) => {
                (Node::OrderStatusResponse, vec![("orders", self.orders(orders)?)], Facts::default())
            }
            Line::PreferencesAre => (Node::PrefsConsentResponse, vec![("settings", text.to_owned())], done),
            Line::HandedOver => {
                let minutes = self.situation.tenant.settings.handoff.expected_wait_minutes.to_string();
                (Node::HandoffMessage, vec![("minutes", minutes)], done)
            }
            _ => return Ok(None),
        };
        Ok(Some((node, Draft::of(text, kept, claims))))
    }
}

//! What a message changes of the goods that were put into the cart last: "make it 3", "black, not green", "size 42".

use super::super::effect::Heard;
use super::super::rules::Says;
use super::super::state::{ConversationState, StoredItem, Wanted};
use crate::domain::commerce::CartLine;
use crate::domain::commerce::sale::QUANTITY_MAX;
use crate::domain::text::words;

/// A change of the last goods.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::desks::commerce) enum Change {
    /// The changed line, and where it is in the cart.
    Line(usize, CartLine),
    /// Another choice of the item, next to the first one.
    Another(Wanted),
    /// The item does not have it.
    NoSuchChoice(StoredItem, String),
}

impl ConversationState {
    /// Returns the line of the cart that a message is about: the last one with the goods that it wants to change, else the last one.
    fn line_meant(&self, heard: &Heard) -> Option<(usize, &CartLine, Option<&Wanted>)> {
        let known = |line: &CartLine| self.last.iter().chain(&self.earlier).find(|wanted| wanted.item.id == line.item);
        let changes = [Says::Instead, Says::ChangeOrder, Says::More].into_iter().any(|says| heard.said.says(says));
        let is_meant = |line: &CartLine| {
            let names = known(line).map(|wanted| wanted.item.names()).unwrap_or_default();
            heard.goods.iter().all(|word| names.contains(word))
        };
        let named = self.cart.iter().rposition(is_meant).filter(|_| changes && heard.names_goods());
        let at = named.or(self.cart.len().checked_sub(1))?;
        Some((at, &self.cart[at], known(&self.cart[at])))
    }

    /// Returns what a message changes of a line of the cart, which may be nothing: "just one pair".
    pub fn changes_line(&self, heard: &Heard) -> Option<Change> {
        let said = &heard.said;
        let (at, line, wanted) = self.line_meant(heard)?;
        let own = wanted.map(|wanted| wanted.item.words()).unwrap_or_default();
        let is_own = |word: &String| words(word).iter().all(|word| own.contains(word));
        if said.most.is_some() || said.least.is_some() || !heard.goods.iter().all(is_own) {
            return None;
        }
        let counts = said.says(Says::Pieces) || said.says(Says::Size);
        let is_choice = |word: &String| said.details.choices.contains(word);
        // "I think 39 is safer, change it": other words do not matter next to a wish to change.
        let changes = said.says(Says::Instead) || said.says(Says::ChangeOrder) || heard.is_sale();
        let has_detail = !said.details.numbers.is_empty() || !said.details.choices.is_empty();
        let is_plain = counts
            || (changes && has_detail && (heard.goods.is_empty() || said.says(Says::Instead)))
            || said.words.iter().all(|word| is_own(word) || is_choice(word));
        let (mut choices, mut rest) = match wanted {
            Some(wanted) => said.details.choices_of(&wanted.item.variants),
            None => (line.choices.clone(), said.details.numbers.clone()),
        };
        // "41 pairs" of what also has a size 41.
        if said.says(Says::Pieces) && !said.says(Says::Size) && rest.is_empty() {
            rest.clone_from(&said.details.numbers);
            choices.retain(|_, choice| choice.parse::<u64>().is_err());
        }
        let strange = wanted.and_then(|wanted| {
            let is_size = |number: &&u64| said.says(Says::Size) || wanted.item.is_like_a_size(**number);
            let number = rest.first().filter(is_size).filter(|_| !said.says(Says::Pieces)).map(u64::to_string);
            let choice = number.or_else(|| said.details.strange_choice(&wanted.item))?;
            Some(Change::NoSuchChoice(wanted.item.clone(), choice))
        });
        let asks = said.utterance.has_question() && !counts && !said.words.is_empty();
        if !is_plain || asks {
            return None;
        }
        let quantity = said.details.quantity(&rest);
        let has_choice = wanted.is_some() && !choices.is_empty();
        if strange.is_some() || (quantity.is_none() && !has_choice) {
            return strange;
        }
        let (is_more, mut changed) = (said.says(Says::More), line.clone());
        changed.choices.extend(choices);
        if is_more && changed.choices != line.choices {
            return wanted.map(|wanted| {
                Change::Another(Wanted { quantity, choices: changed.choices, item: wanted.item.clone() })
            });
        }
        changed.quantity = match quantity {
            Some(more) if is_more => (line.quantity + more).min(QUANTITY_MAX),
            quantity => quantity.unwrap_or(line.quantity),
        };
        Some(Change::Line(at, changed))
    }
}

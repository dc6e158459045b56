//! What a message changes of the goods that were put into the cart last: "make it 3", "black, not green", "size 42".

use super::super::effect::Incoming;
use super::super::rules::Says;
use super::super::said::{MOST_PIECES, Said};
use super::super::state::{ConversationState, Wanted};
use crate::domain::commerce::sale::QUANTITY_MAX;
use crate::domain::commerce::{CartLine, CatalogItem};
use crate::domain::text::{singular, words};
use crate::nlu::pick::Pick;

/// A change of the last goods.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::desks::commerce) enum Change {
    /// The changed line, and where it is in the cart.
    Line(usize, CartLine),
    /// Another choice of some of the pieces of a line.
    Part(usize, CartLine),
    /// Another choice of the item, next to the first one.
    Another(Wanted),
    /// Asks about choices that the item has.
    Asked(Wanted),
    /// The item does not have it.
    NoSuchChoice(CatalogItem, String),
}

impl ConversationState {
    /// Returns the line of the cart that a message is about: the last one with the goods that it wants to change, else the last one that
    /// comes in what it names, else the last one.
    fn line_meant(&self, incoming: &Incoming) -> Option<(usize, &CartLine, Option<&Wanted>)> {
        let known = |line: &CartLine| self.known(line);
        let changes = [Says::Instead, Says::Corrects, Says::ChangeOrder, Says::More];
        let changes = changes.into_iter().any(|says| incoming.said.says(says)) || incoming.said.refuses();
        let is_meant = |line: &CartLine| {
            let names = known(line).map(|wanted| wanted.item.names()).unwrap_or_default();
            incoming.goods.iter().all(|word| names.contains(word))
        };
        // "One pair of shoes is enough": the shoes, and not the shoe polish.
        let is_kind = |line: &CartLine| {
            let kind = known(line).and_then(|wanted| words(&wanted.item.name).pop());
            kind.is_some_and(|kind| incoming.goods.iter().any(|word| singular(&kind) == word))
        };
        let named = self.cart.iter().rposition(|line| is_meant(line) && is_kind(line));
        let named =
            named.or_else(|| self.cart.iter().rposition(is_meant)).filter(|_| changes && incoming.names_goods());
        let has_choice = |line: &CartLine| {
            let chosen =
                known(line).map(|wanted| incoming.said.details.choices_of(&wanted.item.variants, &line.choices));
            chosen.is_some_and(|(choices, _)| !choices.is_empty())
        };
        // "Reduce the 34 to one", "another one of the 43": the line that is so already.
        let counts = [Says::Pieces, Says::More].into_iter().any(|says| incoming.said.says(says));
        let is_so = |line: &CartLine| line.choices.values().any(|choice| incoming.said.details.has(choice));
        let chosen = || {
            let same = self.cart.iter().rposition(|line| is_so(line) && has_choice(line)).filter(|_| counts);
            same.or(self.cart.iter().rposition(has_choice))
        };
        // "Make the second one white", "not the 38 but a 40".
        let picked = match incoming.said.pick {
            Some(Pick::Nth(at)) if at < self.cart.len() && !incoming.names_goods() => Some(at),
            _ => None,
        };
        let is_changed = |line: &CartLine| {
            let new = known(line).map(|of| incoming.said.details.choices_of(&of.item.variants, &line.choices).0);
            let is_other = |(variant, choice): (&String, &String)| new.as_ref()?.get(variant).map(|of| of != choice);
            is_so(line) && line.choices.iter().any(|choice| is_other(choice) == Some(true))
        };
        let changed = || self.cart.iter().rposition(is_changed).filter(|_| named.is_none());
        let at = picked.or_else(changed).or(named).or_else(chosen).or(self.cart.len().checked_sub(1))?;
        Some((at, &self.cart[at], known(&self.cart[at])))
    }

    /// Returns the item of a line of the cart, if it was put in or changed in this conversation.
    pub fn known(&self, line: &CartLine) -> Option<&Wanted> {
        self.last.iter().chain(&self.earlier).find(|wanted| wanted.item.id == line.item)
    }

    /// Notes that a line of the cart was changed last, and how many pieces were added to those before.
    pub fn note_change(&mut self, line: &CartLine, before: u32) {
        let Some(item) = self.known(line).map(|wanted| wanted.item.clone()) else { return };
        let added = line.quantity.checked_sub(before).filter(|more| *more > 0).unwrap_or(line.quantity);
        let changed = Wanted { quantity: Some(added), choices: line.choices.clone(), item };
        self.earlier.extend(self.last.replace(changed));
        self.earlier.retain(|wanted| wanted.item.id != line.item);
    }

    /// Returns what a message changes of a line of the cart, which may be nothing: "just one pair".
    pub fn changes_line(&self, incoming: &Incoming) -> Option<Change> {
        let said = &incoming.said;
        let (at, line, wanted) = self.line_meant(incoming)?;
        let own = wanted.map(|wanted| wanted.item.words()).unwrap_or_default();
        let is_own = |word: &String| words(word).iter().all(|word| own.contains(word));
        if said.most.is_some() || said.least.is_some() || !incoming.goods.iter().all(is_own) {
            return None;
        }
        let counts = said.says(Says::Pieces) || said.says(Says::Size) || said.says(Says::AllLeft);
        let is_choice = |word: &String| said.details.choices.contains(word);
        // "I think 39 is safer, change it": other words do not matter next to a wish to change.
        let replaces = said.says(Says::Instead) || said.says(Says::Corrects);
        let changes = replaces || said.says(Says::ChangeOrder) || incoming.is_sale();
        let has_detail = !said.details.are_none();
        let is_plain = counts
            || (changes && has_detail && (incoming.goods.is_empty() || replaces))
            || said.words.iter().all(|word| is_own(word) || is_choice(word));
        let (mut choices, mut rest) = match wanted {
            Some(wanted) => said.details.choices_of(&wanted.item.variants, &line.choices),
            None => (line.choices.clone(), said.details.numbers.clone()),
        };
        // "41 pairs" of what also has a size 41.
        if said.says(Says::Counted) && !said.says(Says::Size) && rest.is_empty() {
            rest.clone_from(&said.details.numbers);
            choices.retain(|_, choice| choice.parse::<u64>().is_err());
        }
        let strange = wanted.and_then(|wanted| {
            let is_size = |number: &&u64| said.says(Says::Size) || wanted.item.is_like_a_size(**number);
            let is_other = !said.says(Says::Pieces) && !Said::has_number(&choices);
            let number = rest.first().filter(is_size).filter(|_| is_other).map(u64::to_string);
            let choice = number.or_else(|| said.details.strange_choice(&wanted.item))?;
            Some(Change::NoSuchChoice(wanted.item.clone(), choice))
        });
        let asks = said.utterance.has_question() && !counts && !said.words.is_empty();
        if !is_plain {
            return None;
        }
        let has_choice = wanted.is_some() && !choices.is_empty();
        if asks {
            let asked = wanted.filter(|_| has_choice && incoming.goods.is_empty());
            return strange.filter(|_| incoming.goods.is_empty()).or(asked.cloned().map(Change::Asked));
        }
        // A number like a size counts no pieces, unless the message counts with it.
        let is_size = |number: u64| {
            let is_like_one = |wanted: &Wanted| wanted.item.is_like_a_size(number);
            number > MOST_PIECES && (said.says(Says::Size) || self.last.iter().chain(&self.earlier).any(is_like_one))
        };
        // "39 instead of 38" counts none, even of goods without such sizes.
        let is_other = |number: u64| number > MOST_PIECES && said.says(Says::Instead) && !said.says(Says::Pieces);
        rest.retain(|number| said.says(Says::Counted) || !(is_size(*number) || is_other(*number)));
        // "The second one" counts nothing.
        let is_pronoun = said.says(Says::Ones) && !said.says(Says::Pieces);
        rest.retain(|number| *number != 1 || !is_pronoun);
        let all_left = wanted.filter(|_| said.says(Says::AllLeft)).map(|wanted| wanted.item.stock.min(QUANTITY_MAX));
        let quantity = all_left.or(said.details.quantity(&rest));
        if strange.is_some() || (quantity.is_none() && !has_choice) {
            return strange;
        }
        let (is_more, mut changed) = (said.says(Says::More) && !said.says(Says::UpTo), line.clone());
        changed.choices.extend(choices);
        if is_more && changed.choices != line.choices {
            return wanted.map(|wanted| {
                Change::Another(Wanted { quantity, choices: changed.choices, item: wanted.item.clone() })
            });
        }
        // "Make one of them black": the others stay.
        if let Some(pieces) = quantity.filter(|pieces| said.says(Says::Part) && *pieces < line.quantity)
            && changed.choices != line.choices
        {
            return Some(Change::Part(at, CartLine { quantity: pieces, ..changed }));
        }
        // "Another one of size 43" is one more.
        changed.quantity = match quantity {
            quantity if is_more && all_left.is_none() => (line.quantity + quantity.unwrap_or(1)).min(QUANTITY_MAX),
            quantity => quantity.unwrap_or(line.quantity),
        };
        Some(Change::Line(at, changed))
    }
}

//! What a message wants next to its first goods: "a red canvas 39 and 2 white socks. When do you deliver?"

use std::ops::Range;

use super::Commerce;
use super::classify::classify;
use super::rules::Says;
use super::said::{LARGEST_SIZE, MOST_PIECES, Said};
use super::sales::search_of;
use super::state::{ConversationState, OFFERS, Question, Search, Stage};
use crate::dialogue::Act;
use crate::domain::commerce::policy::{GovernorClass, Intent, Journey, Routing, route};
use crate::domain::text::{singular, words};
use crate::nlu::pick::Pick;
use crate::store::catalog::CatalogWords;

/// A message with more parts is not divided: each part costs a reading of the message.
const MOST_PARTS: usize = 16;
/// The most questions that are tried one by one.
const MOST_QUESTIONS: usize = 4;
/// Shorter words begin too many others.
const SHORTEST_BEGINNING: usize = 4;

/// A part of a message that names goods, or more choices of the goods before it.
struct Wish {
    text: Range<usize>,
    said: Said,
    goods: Vec<String>,
    choices: Vec<String>,
    /// Its first number counts the pieces of all parts.
    has_total: bool,
}

impl Wish {
    fn has_number(&self) -> bool {
        !self.said.details.numbers.is_empty()
    }

    fn has_size(&self) -> bool {
        self.said.details.numbers.iter().any(|number| (MOST_PIECES + 1..LARGEST_SIZE).contains(number))
    }

    /// Whether it names only choices, which hold for all wishes before: "all large", or a choice that none of them has, such as the last one
    /// of "2 black and 1 white, medium".
    fn is_shared(&self, wishes: &[Self]) -> bool {
        let chosen = |wish: &Self| wish.choices.len() + wish.said.details.sizes().len();
        let is_one_more = || {
            let [_, others @ ..] = wishes else { return false };
            let is_like_first = |wish: &Self| wish.goods.is_empty() && wish.count().is_some();
            let lacks_it = wishes.iter().all(|wish| chosen(wish) == 1) && chosen(self) == 1 && self.count().is_none();
            !others.is_empty() && others.iter().all(is_like_first) && lacks_it
        };
        self.goods.is_empty()
            && !wishes.is_empty()
            && chosen(self) > 0
            && (self.said.says(Says::ForAll) || is_one_more())
    }

    /// Returns how many pieces it counts.
    fn count(&self) -> Option<u64> {
        self.said.details.numbers.iter().find(|number| **number <= MOST_PIECES).copied()
    }

    /// Whether it counts the pieces of which the next part chooses some: "two pairs, one black", "2 pairs, one size 38".
    fn is_total_of(&self, next: &Self) -> bool {
        let chooses = next.has_size() || (self.choices.is_empty() && !next.choices.is_empty());
        self.count().is_some() && !self.has_size() && next.count().is_some() && chooses
    }

    /// Leaves out the number of all pieces.
    fn drop_total(&mut self) {
        let numbers = &mut self.said.details.numbers;
        if let Some(at) = numbers.iter().position(|number| *number <= MOST_PIECES) {
            numbers.remove(at);
        }
    }

    /// Takes the choices that hold for all goods.
    fn share(&mut self, shared: &[Self]) {
        let details = &mut self.said.details;
        for other in shared {
            let is_size = |number: &&u64| **number > MOST_PIECES;
            details.words.extend(other.said.details.words.iter().cloned());
            details.numbers.extend(other.said.details.numbers.iter().filter(is_size));
            details.choices.extend(other.choices.iter().cloned());
            self.choices.extend(other.choices.iter().cloned());
        }
    }

    /// Whether the next part of the message is about other goods, or about another piece of the same.
    fn ends_before(&self, next: &Self, has_item: bool) -> bool {
        let is_part = |a: &Self, b: &Self| a.goods.iter().all(|word| b.goods.contains(word));
        match (self.goods.is_empty(), next.goods.is_empty()) {
            (_, true) => {
                let is_choice = next.has_number() && !next.choices.is_empty() && !self.choices.is_empty();
                // "Make it black. Do you have a 41?"
                let is_asked = next.said.utterance.has_question() && !self.said.utterance.has_question();
                let is_asked = is_asked && (next.has_number() || !next.choices.is_empty());
                // "The second one then, do you have 39?" is one wish.
                let is_asked = is_asked && (self.has_size() || !self.choices.is_empty());
                // "Two, green and black" is one of each, and "two, large, black" are both.
                let is_each = self.count() == Some(2) && self.choices.len() == 1 && next.choices.len() == 1;
                let is_each = is_each && next.text.start > self.text.end && !next.has_number() && !self.said.refuses();
                is_asked || is_choice || is_each || (next.has_size() && self.has_size() && !self.said.refuses())
            }
            (true, false) => has_item && (self.has_number() || !self.choices.is_empty()),
            // "Gum boots green 40 and gum boots black 42."
            (false, false) => (!is_part(self, next) && !is_part(next, self)) || (self.has_size() && next.has_size()),
        }
    }
}

impl Commerce {
    /// Takes a question about the shop out of a message that says something else of a sale, or answers what the desk asked.
    pub(super) fn cut_question(&self, said: Said, state: &ConversationState) -> (Said, Option<Question>) {
        if !said.utterance.has_question() && !said.is_about("delivery") {
            return (said, None);
        }
        let journey = |said: &Said| {
            let verdict = classify(said, &self.examples, 0.0);
            route(verdict.intent, verdict.confidence)
        };
        let text = said.text();
        let pieces = self.rules.pieces(text);
        if pieces.len() > MOST_PARTS {
            return (said, None);
        }
        let asks = |piece: &Range<usize>| {
            let asked = self.rules.parse(&text[piece.clone()]);
            let is_question = asked.utterance.has_question();
            match journey(&asked) {
                // "… and delivery to Kisumu?", "deliver it to Westlands"
                Routing::Journey(Journey::Support) => is_question || asked.is_about("delivery"),
                Routing::Journey(Journey::Offers) => {
                    is_question && asked.details.are_none() && asked.codes().is_empty()
                }
                // "… and how do I pay?"
                Routing::Journey(Journey::Orders) => {
                    is_question && asked.is_about("pay") && !asked.says(Says::WentThrough)
                }
                // "How long to Kisumu, and what does it cost?", "… what's the total?"
                _ => {
                    let is_total = asked.says(Says::ShowCart);
                    let is_price = asked.says(Says::HowMuch) && said.is_about("delivery");
                    is_question && asked.words.is_empty() && asked.details.are_none() && (is_total || is_price)
                }
            }
        };
        let asking: Vec<Range<usize>> = pieces.into_iter().filter(asks).collect();
        // All questions together, else one of them.
        let several = (asking.len() > 1).then(|| asking.clone());
        for cut in several.into_iter().chain(asking.into_iter().take(MOST_QUESTIONS).map(|piece| vec![piece])) {
            let (mut asked, mut rest, mut at) = (Vec::new(), String::new(), 0);
            for piece in cut {
                rest = format!("{rest}{} ", &text[at..piece.start]);
                at = piece.end;
                asked.push(&text[piece]);
            }
            rest.push_str(&text[at..]);
            if rest.trim().is_empty() {
                continue;
            }
            let (asked, rest) = (self.rules.parse(&asked.join(" ")), self.rules.parse(rest.trim()));
            // "Yes, thanks. Do you deliver to Kisumu?": thanks alone would end the turn.
            if rest.class != GovernorClass::Business {
                continue;
            }
            // A yes to an amount with a question is no clear one.
            if matches!(state.stage, Stage::ConfirmAmount { .. }) && rest.utterance.answer.is_some() {
                continue;
            }
            let chooses = state.is_selling() && !rest.details.numbers.is_empty() || state.is_answered_by(&rest);
            let asks_goods = rest.says(Says::HowMuch) && !rest.words.is_empty() && !rest.is_about("delivery");
            let asks_total = asks_goods || (rest.says(Says::ShowCart) && state.order.is_some());
            let names = !rest.details.sizes().is_empty() && !rest.words.is_empty();
            let is_journey = journey(&rest) == Routing::Journey(Journey::Sales);
            let is_sale = chooses || names || is_journey;
            // "Are they waterproof, and when do you open?"
            let is_clear = || rest.says(Says::AsksStock) || rest.clear_intents().contains(&Intent::SalesDiscovery);
            let asks_both = is_journey && !rest.is_about("delivery") && (state.item().is_some() || is_clear());
            // The cart that follows has the total.
            let is_total = asked.says(Says::ShowCart) && asked.subjects.is_empty();
            if is_total && chooses {
                return (rest, None);
            }
            if !is_total && ((is_sale && !rest.utterance.has_question()) || asks_total || asks_both) {
                let is_asked = asked.utterance.has_question() || asked.is_about("delivery_cost");
                let mut subjects = if is_asked { asked.subjects.clone() } else { Vec::new() };
                if journey(&asked) == Routing::Journey(Journey::Offers) {
                    subjects = vec![OFFERS.to_owned()];
                }
                // The total with the delivery: what that costs as well.
                let is_cost = !is_asked || ((asks_total || asked.says(Says::HowMuch)) && asked.is_about("delivery"));
                if is_cost && !subjects.iter().any(|subject| subject == "delivery_cost") {
                    subjects.insert(0, "delivery_cost".to_owned());
                }
                let text = if is_asked { asked.text().trim().to_owned() } else { String::new() };
                let question = Question { text, subjects };
                return (rest, Some(question));
            }
        }
        (said, None)
    }

    /// Leaves in a message what it takes out of the cart. Returns the searches for what it wants instead, and not for what stays: "take
    /// out the socks, I keep the sandals".
    fn cut_exchange(
        &self,
        said: &Said,
        state: &ConversationState,
        known: &CatalogWords,
    ) -> Option<(Said, Vec<Search>)> {
        if state.cart.is_empty() || !(said.says(Says::Remove) || said.says(Says::Swaps)) {
            return None;
        }
        let (gone, wanted) = self.rules.cut_exchange(&said.rest)?;
        let (mut main, mut wanted) = (self.rules.parse(gone), self.rules.parse(wanted));
        let (gone, goods) = (known.name_goods(&mut main), known.name_goods(&mut wanted));
        let names_other = goods.iter().any(|word| !gone.contains(word));
        let chooses = !wanted.details.choices.is_empty() || !wanted.details.sizes().is_empty();
        // "Swap the heels for those": the item that is talked about.
        let points_at_it = said.says(Says::Swaps) || (wanted.pick == Some(Pick::It) && !wanted.refuses());
        let item = state.item().filter(|_| goods.is_empty() && !gone.is_empty() && points_at_it);
        // "Change pink to blue" changes a line of the cart.
        let is_exchange = names_other || item.is_some() || (chooses && !(said.says(Says::Swaps) && gone.is_empty()));
        main.utterance.set(Act::Mention(Says::Remove), true);
        main.utterance.set(Act::Mention(Says::Same), said.says(Says::Same));
        let in_cart = |word: &String| {
            state.cart.iter().filter_map(|line| state.known(line)).any(|of| of.item.names().contains(word))
        };
        // "Remove the socks, I only want the boots": the boots of the cart stay.
        let names_kept = !goods.is_empty() && goods.iter().all(in_cart) && !chooses && wanted.details.are_none();
        let stays = names_kept && !said.says(Says::Swaps) && !wanted.says(Says::More);
        if stays || wanted.says(Says::Keeps) {
            return Some((said.clone().narrowed(main), Vec::new()));
        }
        if !is_exchange || wanted.says(Says::Remove) {
            return None;
        }
        let (first, mut later) = self.cut_goods(wanted, state, known);
        let mut next = search_of(&first, false);
        next.words = match item {
            Some(item) => words(&item.item.name),
            None if goods.is_empty() => Vec::new(),
            None => known.sought(&first),
        };
        later.insert(0, next);
        Some((said.clone().narrowed(main), later))
    }

    /// Leaves the first goods in a message. Returns the searches for the others; one without words means the same goods again.
    pub(super) fn cut_goods(&self, said: Said, state: &ConversationState, known: &CatalogWords) -> (Said, Vec<Search>) {
        if let Some(cut) = self.cut_exchange(&said, state, known) {
            return cut;
        }
        let changes = said.says(Says::Instead) || said.says(Says::Corrects);
        let pieces = match changes {
            true => self.rules.pieces(&said.rest),
            false => self.rules.pieces_with(&said.rest, &known.choices),
        };
        let own = state.item().or(state.last.as_ref()).map(|wanted| wanted.item.names()).unwrap_or_default();
        let is_cut = (2..=MOST_PARTS).contains(&pieces.len()) && !said.says(Says::Remove);
        if !is_cut || matches!(state.stage, Stage::Phone { .. } | Stage::ConfirmAmount { .. }) {
            return (said, Vec::new());
        }
        let wish = |text: Range<usize>| {
            let mut part = self.rules.parse(&said.rest[text.clone()]);
            let goods = known.name_goods(&mut part);
            let choices = part.details.choices.clone();
            Wish { text, said: part, goods, choices, has_total: false }
        };
        let mut wishes: Vec<Wish> = Vec::new();
        let mut shared: Vec<Wish> = Vec::new();
        for piece in pieces {
            let next = wish(piece);
            // "1 black, 2 grey, all large"
            if next.is_shared(&wishes) {
                shared.push(next);
                continue;
            }
            let is_own = !next.goods.is_empty() && next.goods.iter().all(|word| own.contains(word));
            let has_item = wishes.len() > 1 || (!own.is_empty() && !is_own);
            match wishes.pop() {
                Some(last) if last.ends_before(&next, has_item) => wishes.extend([last, next]),
                Some(last) => {
                    let mut whole = wish(last.text.start..next.text.end);
                    whole.has_total = last.has_total || last.is_total_of(&next);
                    wishes.push(whole);
                }
                None => wishes.push(next),
            }
        }
        wishes.iter_mut().filter(|wish| wish.has_total).for_each(Wish::drop_total);
        // "2 pairs, size 38 and 41" is one of each.
        if let [first, others @ ..] = wishes.as_mut_slice()
            && first.count().is_some_and(|count| count == others.len() as u64 + 1)
            && others.iter().all(|other| other.goods.is_empty() && other.count().is_none())
            && !others.is_empty()
        {
            first.drop_total();
        }
        wishes.iter_mut().for_each(|wish| wish.share(&shared));
        // "Do you have boots and sandals?" is one question; "can I get 2 socks and a sandal size 40?" wants both.
        let only_asks = wishes.iter().all(|wish| wish.said.utterance.has_question());
        let is_exact = |wish: &Wish| wish.has_number() || !wish.choices.is_empty();
        let wants = !said.utterance.has_question() || !own.is_empty() || wishes.iter().all(is_exact);
        let compares = said.says(Says::Compares);
        if wishes.len() < 2 || (!compares && (only_asks || !wants)) {
            return (said, Vec::new());
        }
        let first = wishes.remove(0);
        // "… and leave the others" names goods that are not wanted.
        let asks = first.said.utterance.has_question();
        let later = wishes.into_iter().filter(|wish| !wish.said.refuses());
        let later = later.map(|wish| wish.into_search(asks || compares, known)).collect();
        // Paying, and everything else about the whole message, does not change.
        let names_other = first.goods.iter().any(|word| !own.contains(word));
        let mut main = first.said;
        main.utterance.set(Act::Mention(Says::Pay), said.says(Says::Pay));
        main.utterance.set(Act::Mention(Says::Compares), compares);
        let adds = main.says(Says::More) || (names_other && said.says(Says::More));
        main.utterance.set(Act::Mention(Says::More), adds);
        main.utterance.set(Act::WantPerson, said.utterance.wants_person());
        (said.narrowed(main), later)
    }
}

impl Wish {
    /// `asks`: the goods before these are only asked about. Without a number, these are as well.
    fn into_search(self, asks: bool, known: &CatalogWords) -> Search {
        let is_question = self.said.utterance.has_question() || (asks && !self.has_number());
        let words = if self.goods.is_empty() { Vec::new() } else { known.sought(&self.said) };
        let Said { details, least, most, .. } = self.said;
        Search { words, least, most, details, is_question, ..Search::default() }
    }
}

impl CatalogWords {
    /// Notes which words of a message are a choice of some goods. Returns those by which goods are named.
    pub(super) fn name_goods(&self, said: &mut Said) -> Vec<String> {
        self.keep_unwanted(said);
        let written: Vec<&str> = said.words.iter().flat_map(|word| word.split_whitespace()).collect();
        let meant = written.into_iter().map(|word| crate::nlu::spelling::nearest(word, &self.all).unwrap_or(word));
        let meant: Vec<String> = meant.map(str::to_owned).collect();
        let is_choice = |word: &&String| self.choices.contains(word) && word.parse::<u64>().is_err();
        said.details.choices = meant.iter().filter(is_choice).cloned().collect();
        let is_name = |word: &&String| self.names.contains(word) || self.names.contains(singular(word));
        meant.iter().filter(is_name).map(|word| singular(word).to_owned()).collect()
    }

    /// Leaves the words of goods that the message does not want, and does not want otherwise as well.
    pub(super) fn keep_unwanted(&self, said: &mut Said) {
        let (words, names) = (&said.words, &self.names);
        said.unwanted.retain(|word| names.contains(singular(word)) && !words.contains(word));
    }

    /// Whether the message has words, and none of them is one of the shop's goods.
    pub(super) fn has_none_of(&self, said: &Said) -> bool {
        let mut words = said.words.iter().flat_map(|word| word.split_whitespace()).peekable();
        words.peek().is_some() && !words.any(|word| self.knows(word))
    }

    fn knows(&self, word: &str) -> bool {
        let starts = || word.len() >= SHORTEST_BEGINNING && self.all.has_prefix(word);
        self.all.contains(singular(word)) || starts() || crate::nlu::spelling::nearest(word, &self.all).is_some()
    }

    /// Returns the words of a message to search for: if one of them names a kind of goods, those that the shop knows.
    pub(super) fn sought(&self, said: &Said) -> Vec<String> {
        let is_near = |word: &str| crate::nlu::spelling::nearest(word, &self.all);
        let is_kind = |word: &str| self.kinds.contains(singular(is_near(word).unwrap_or(word)));
        let words = || said.words.iter().flat_map(|word| word.split_whitespace());
        match words().any(is_kind) {
            true => words().filter(|word| self.knows(word)).map(str::to_owned).collect(),
            false => said.words.clone(),
        }
    }

    /// Whether a word of the message names goods, without correction.
    pub(super) fn has_name_in(&self, said: &Said) -> bool {
        let mut words = said.words.iter().flat_map(|word| word.split_whitespace());
        words.any(|word| self.names.contains(word) || self.names.contains(singular(word)))
    }
}

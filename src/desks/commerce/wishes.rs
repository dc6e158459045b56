//! What a message wants next to its first goods: "a red canvas 39 and 2 white socks. When do you deliver?"

use std::ops::Range;

use super::Commerce;
use super::classify::classify;
use super::rules::Says;
use super::said::{LARGEST_SIZE, MOST_PIECES, Said};
use super::state::{ConversationState, Question, Search, Stage};
use crate::dialogue::Act;
use crate::domain::commerce::catalog::search::stem;
use crate::domain::commerce::policy::{Journey, Routing, route};
use crate::store::catalog::CatalogWords;

/// Shorter words begin too many others.
const SHORTEST_BEGINNING: usize = 4;

/// A part of a message that names goods, or more choices of the goods before it.
struct Wish {
    text: Range<usize>,
    said: Said,
    goods: Vec<String>,
    choices: Vec<String>,
}

impl Wish {
    fn has_number(&self) -> bool {
        !self.said.details.numbers.is_empty()
    }

    fn has_size(&self) -> bool {
        self.said.details.numbers.iter().any(|number| (MOST_PIECES + 1..LARGEST_SIZE).contains(number))
    }

    /// Whether it names only choices, for all goods of the message.
    fn is_shared(&self) -> bool {
        self.said.says(Says::ForAll) && self.goods.is_empty() && (self.has_size() || !self.choices.is_empty())
    }

    /// Whether it counts the pieces of which the next part chooses some.
    fn is_total_of(&self, next: &Self) -> bool {
        let counts = |wish: &Self| wish.said.details.numbers.first().is_some_and(|number| *number <= MOST_PIECES);
        counts(self) && self.choices.is_empty() && !self.has_size() && counts(next) && !next.choices.is_empty()
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
                is_asked || is_choice || (next.has_size() && self.has_size() && !self.said.refuses())
            }
            (true, false) => has_item && (self.has_number() || !self.choices.is_empty()),
            // "Gum boots green 40 and gum boots black 42."
            (false, false) => (!is_part(self, next) && !is_part(next, self)) || (self.has_size() && next.has_size()),
        }
    }
}

impl Commerce {
    /// Takes a question about the shop out of a message that says something else of a sale.
    pub(super) fn cut_question(&self, said: Said, state: &ConversationState) -> (Said, Option<Question>) {
        if !said.utterance.has_question() && !said.is_about("delivery") {
            return (said, None);
        }
        let journey = |said: &Said| {
            let verdict = classify(said, &self.examples, 0.0);
            route(verdict.intent, verdict.confidence)
        };
        for piece in self.rules.pieces(said.text()) {
            let text = said.text();
            let asked = self.rules.parse(&text[piece.clone()]);
            // "… and delivery to Kisumu?", "deliver it to Westlands"
            let is_question = asked.utterance.has_question() || asked.is_about("delivery");
            let is_about_shop = is_question && journey(&asked) == Routing::Journey(Journey::Support);
            let rest = format!("{} {}", &text[..piece.start], &text[piece.end..]);
            if !is_about_shop || rest.trim().is_empty() {
                continue;
            }
            let rest = self.rules.parse(rest.trim());
            let chooses = state.is_selling() && !rest.details.numbers.is_empty();
            let asks_goods = rest.says(Says::HowMuch) && !rest.words.is_empty() && !rest.is_about("delivery");
            let asks_total = asks_goods || (rest.says(Says::ShowCart) && state.order.is_some());
            let names = !rest.details.sizes().is_empty() && !rest.words.is_empty();
            let is_sale = chooses || names || journey(&rest) == Routing::Journey(Journey::Sales);
            if (is_sale && !rest.utterance.has_question()) || asks_total {
                let is_asked = asked.utterance.has_question() || asked.is_about("delivery_cost");
                let mut subjects = if is_asked { asked.subjects.clone() } else { Vec::new() };
                // The total with the delivery: what that costs as well.
                let is_cost = !is_asked || (asks_total && asked.is_about("delivery"));
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

    /// Removes the goods that stay from a message that takes others out: "take out the socks, I keep the sandals".
    pub(super) fn cut_kept(&self, said: Said) -> Said {
        if !said.says(Says::Remove) || !said.says(Says::Keeps) {
            return said;
        }
        let pieces = self.rules.pieces(&said.rest).into_iter();
        let parts: Vec<Said> = pieces.map(|piece| self.rules.parse(&said.rest[piece])).collect();
        let removed = parts.into_iter().find(|part| part.says(Says::Remove) && !part.says(Says::Keeps));
        removed.unwrap_or(said)
    }

    /// Leaves the first goods in a message. Returns the searches for the others; one without words means the same goods again.
    pub(super) fn cut_goods(&self, said: Said, state: &ConversationState, known: &CatalogWords) -> (Said, Vec<Search>) {
        let changes = said.says(Says::Instead) || said.says(Says::Corrects);
        let pieces = match changes {
            true => self.rules.pieces(&said.rest),
            false => self.rules.pieces_with(&said.rest, &known.choices),
        };
        let own = state.item().or(state.last.as_ref()).map(|wanted| wanted.item.names()).unwrap_or_default();
        let is_cut = pieces.len() > 1 && !said.says(Says::Remove);
        if !is_cut || matches!(state.stage, Stage::Phone { .. } | Stage::ConfirmAmount { .. }) {
            return (said, Vec::new());
        }
        let wish = |text: Range<usize>| {
            let mut part = self.rules.parse(&said.rest[text.clone()]);
            let goods = known.name_goods(&mut part);
            let choices = part.details.choices.clone();
            Wish { text, said: part, goods, choices }
        };
        let mut wishes: Vec<Wish> = Vec::new();
        let mut shared: Vec<Wish> = Vec::new();
        for piece in pieces {
            let next = wish(piece);
            // "1 black, 2 grey, all large"
            if next.is_shared() && !wishes.is_empty() {
                shared.push(next);
                continue;
            }
            let is_own = !next.goods.is_empty() && next.goods.iter().all(|word| own.contains(word));
            let has_item = wishes.len() > 1 || (!own.is_empty() && !is_own);
            match wishes.pop() {
                Some(last) if last.ends_before(&next, has_item) => wishes.extend([last, next]),
                Some(last) => {
                    let mut whole = wish(last.text.start..next.text.end);
                    // "Two pairs of socks, one black …": the first number counts all of them.
                    if last.is_total_of(&next) && !whole.said.details.numbers.is_empty() {
                        whole.said.details.numbers.remove(0);
                    }
                    wishes.push(whole);
                }
                None => wishes.push(next),
            }
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
        main.utterance.text.clone_from(&said.utterance.text);
        main.utterance.set(Act::Mention(Says::Pay), said.says(Says::Pay));
        main.utterance.set(Act::Mention(Says::Compares), compares);
        let adds = main.says(Says::More) || (names_other && said.says(Says::More));
        main.utterance.set(Act::Mention(Says::More), adds);
        main.utterance.set(Act::WantPerson, said.utterance.wants_person());
        let Said { class, intents, phone, all_numbers, methods, compliance, introduces_code, rest, .. } = said;
        let main = Said { class, intents, phone, all_numbers, methods, compliance, introduces_code, rest, ..main };
        (main, later)
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
        let is_choice = |word: &&String| self.choices.contains(*word) && word.parse::<u64>().is_err();
        said.details.choices = meant.iter().filter(is_choice).cloned().collect();
        let is_name = |word: &&String| self.names.contains(*word) || self.names.contains(stem(word));
        meant.iter().filter(is_name).map(|word| stem(word).to_owned()).collect()
    }

    /// Leaves the words of goods that the message does not want, and does not want otherwise as well.
    pub(super) fn keep_unwanted(&self, said: &mut Said) {
        let (words, names) = (&said.words, &self.names);
        said.unwanted.retain(|word| names.contains(stem(word)) && !words.contains(word));
    }

    /// Whether the message has words, and none of them is one of the shop's goods.
    pub(super) fn has_none_of(&self, said: &Said) -> bool {
        let mut words = said.words.iter().flat_map(|word| word.split_whitespace()).peekable();
        words.peek().is_some() && !words.any(|word| self.knows(word))
    }

    fn knows(&self, word: &str) -> bool {
        let starts = || word.len() >= SHORTEST_BEGINNING && self.begins_one(word);
        self.all.contains(stem(word)) || starts() || crate::nlu::spelling::nearest(word, &self.all).is_some()
    }

    /// Returns the words of a message to search for: if one of them names a kind of goods, those that the shop knows.
    pub(super) fn sought(&self, said: &Said) -> Vec<String> {
        let is_near = |word: &str| crate::nlu::spelling::nearest(word, &self.all);
        let is_kind = |word: &str| self.kinds.contains(stem(is_near(word).unwrap_or(word)));
        let words = || said.words.iter().flat_map(|word| word.split_whitespace());
        match words().any(is_kind) {
            true => words().filter(|word| self.knows(word)).map(str::to_owned).collect(),
            false => said.words.clone(),
        }
    }

    fn begins_one(&self, word: &str) -> bool {
        self.all.range(word.to_owned()..).next().is_some_and(|next| next.starts_with(word))
    }

    /// Whether a word of the message names goods, without correction.
    pub(super) fn has_name_in(&self, said: &Said) -> bool {
        let mut words = said.words.iter().flat_map(|word| word.split_whitespace());
        words.any(|word| self.names.contains(word) || self.names.contains(stem(word)))
    }
}

//! Words that a question is exactly about: what goods are made of, and what only a passage that names it answers.

use std::collections::BTreeMap;

use super::CommerceRules;
use crate::domain::text::{TokenStream, any_match, singular};

impl CommerceRules {
    /// Whether a passage names what the question is exactly about, such as parking. Most questions are about nothing like that.
    pub fn is_answered_by(&self, question: &str, passage: &str) -> bool {
        let (question, passage) = (self.lexicon.tokenize(question), self.lexicon.tokenize(passage));
        let mut asked = self.exact.iter().filter(|(_, patterns)| any_match(patterns, &question, &[]));
        asked.all(|(_, patterns)| any_match(patterns, &passage, &[]))
    }

    /// Whether only a passage that names it answers the question.
    pub fn is_exact(&self, question: &str) -> bool {
        let question = self.lexicon.tokenize(question);
        self.exact.iter().any(|(_, patterns)| any_match(patterns, &question, &[]))
    }

    /// Whether words name a need and goods of any kind: "which of your shoes are good for rain?"
    pub(super) fn names_need_only(&self, words: &[String], needs: &[String]) -> bool {
        let is_kind = |word: &String| self.kinds.contains_key(singular(word));
        !needs.is_empty() && words.iter().any(is_kind) && words.iter().all(|word| is_kind(word) || needs.contains(word))
    }

    /// Returns the values of attributes that a message names, by the attribute: `material` = `leather`.
    pub(super) fn qualities_of(&self, stream: &TokenStream<'_>) -> BTreeMap<String, String> {
        let named = |values: &Vec<String>| {
            let mut words = stream.tokens().iter().map(|token| token.folded());
            words.find(|word| values.iter().any(|value| value == word)).map(str::to_owned)
        };
        let found = self.qualities.iter().filter_map(|(attribute, values)| Some((attribute.clone(), named(values)?)));
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    #[test]
    fn exact_question_needs_its_word() {
        let rules = CommerceRules::read(&Prompts::shipped()).expect("the shipped rules");
        for (question, passage, is_answered) in [
            ("is there parking", "The shop is on Moi Avenue.", false),
            ("is there parking", "There is free parking at the shop.", true),
            ("where is your shop", "The shop is on Moi Avenue.", true),
        ] {
            assert_eq!(rules.is_answered_by(question, passage), is_answered, "{question}: {passage}");
        }
    }

    #[test]
    fn qualities_are_named_with_their_attribute() {
        let rules = CommerceRules::read(&Prompts::shipped()).expect("the shipped rules");
        assert_eq!(
            rules.parse("are they real leather?").qualities.get("material").map(String::as_str),
            Some("leather")
        );
        assert!(rules.parse("do they fit?").qualities.is_empty());
    }
}

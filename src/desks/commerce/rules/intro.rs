//! Whether a shop's introduction says that an AI answers.

use super::{CommerceRules, RuleFile};
use crate::domain::Language;
use crate::domain::text::any_match;
use crate::persona::{PromptError, Prompts};

impl CommerceRules {
    /// Returns whether an introduction says that an AI answers.
    pub fn says_ai(&self, intro: &str) -> bool {
        any_match(&self.lists.says_ai, &self.lexicon.tokenize(intro), &[])
    }

    /// Checks that each language, or one that it falls back to, has words for [`says_ai`](Self::says_ai).
    pub fn check_says_ai(prompts: &Prompts, languages: &[Language]) -> Result<(), PromptError> {
        for language in languages {
            let files = prompts.files_for(*language, |code| format!("rules/commerce.{code}.toml"));
            let lists = files.iter().map(|file| Ok(prompts.toml::<RuleFile>(file)?.says_ai));
            if lists.collect::<Result<Vec<_>, PromptError>>()?.concat().is_empty() {
                let hint = "says_ai is missing: list the words by which an introduction in this language says that an AI \
                            answers, such as says_ai = [\"ai|bot|robot\"]";
                return Err(prompts.error(&files[0], None, hint.to_owned()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn introduction_without_ai_is_found() {
        let rules = CommerceRules::read(&Prompts::shipped()).expect("the shipped rules");
        for (intro, expected) in [
            ("Hi, I'm Zuri, the AI assistant of Savanna Shoes.", true),
            ("Niaje, mimi ni bot ya Savanna!", true),
            ("Habari! Mimi ni roboti ya duka.", true),
            ("Hi, I'm Zuri, the assistant of Aida's shop. Said with love.", false),
        ] {
            assert_eq!(rules.says_ai(intro), expected, "{intro}");
        }
    }

    #[test]
    fn language_without_words_for_ai_is_refused() {
        let prompts = Prompts::shipped();
        let check = |codes: &[&str]| {
            let languages: Vec<Language> = codes.iter().map(|code| code.parse().expect("a language")).collect();
            CommerceRules::check_says_ai(&prompts, &languages)
        };
        assert_eq!(check(&["en", "sw", "sheng"]), Ok(()));
        let error = check(&["en", "pl"]).expect_err("there are no Polish words").to_string();
        assert!(error.contains("rules/commerce.pl.toml: says_ai is missing: list the words"), "{error}");
    }
}

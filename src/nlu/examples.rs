//! Understands a message by its likeness to example sentences.
//!
//! A shop adds an example where the patterns misunderstand. [`frontdesk_text::examples`] compares the texts.

use std::sync::{Arc, OnceLock};

pub use frontdesk_text::examples::{Counts, Example, Groups, Guess, Model, Nearest};

use super::long_text::made_once;
use crate::persona::{PromptError, Prompts};

/// Labels messages as the examples are labelled. It is trained by [`Classifier::prepare`], or when a message needs it.
#[derive(Clone, Debug, Default)]
pub struct Classifier(Arc<Trained>);

#[derive(Debug, Default)]
struct Trained {
    examples: Vec<Example>,
    /// The language of each example.
    languages: Vec<String>,
    model: OnceLock<Model>,
    by_language: OnceLock<Model>,
}

impl Classifier {
    /// Reads `examples/NAME.LANG.tsv` for every language of the shop: a label, a tab and a message on each line. Lines that begin with
    /// `#` are comments. A missing file has no examples.
    pub fn read(prompts: &Prompts, name: &str) -> Result<Self, PromptError> {
        let files = Self::files(prompts, name)?;
        let trained = prompts.shared(&files, || {
            let (mut examples, mut languages) = (Vec::new(), Vec::new());
            for file in &files {
                let language = file.rsplit('.').nth(1).unwrap_or_default();
                let lines = prompts.text(file)?.lines().enumerate();
                for (n, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
                    let Some((label, text)) = line.split_once('\t') else {
                        let hint = "the line has no tab: write a label, a tab and a message".to_owned();
                        return Err(prompts.error(file, Some(n + 1), hint));
                    };
                    examples.push(Example { label: label.trim().to_owned(), text: text.trim().to_owned() });
                    languages.push(language.to_owned());
                }
            }
            Ok(Trained { examples, languages, ..Trained::default() })
        })?;
        Ok(Self(trained))
    }

    /// Returns the files that [`Classifier::read`] reads.
    pub fn files(prompts: &Prompts, name: &str) -> Result<Vec<String>, PromptError> {
        let mut files: Vec<String> =
            prompts.languages()?.iter().map(|language| format!("examples/{name}.{}.tsv", language.code)).collect();
        files.retain(|file| prompts.text(file).is_ok());
        Ok(files)
    }

    /// Trains the model, unless it is trained.
    pub fn prepare(&self) {
        self.trained();
    }

    /// Returns the most likely label, or `None` if the message shares nothing with the examples.
    pub fn classify(&self, text: &str) -> Option<Guess<'_>> {
        self.trained().classify(text)
    }

    /// Returns the most likely label where some are likelier than among the examples: `times` returns by how much, 0 for an impossible one.
    pub fn classify_where(&self, text: &str, times: impl Fn(&str) -> f64) -> Option<Guess<'_>> {
        self.trained().classify_where(text, times)
    }

    /// Trains the model of languages, unless it is trained.
    pub fn prepare_languages(&self) {
        self.languages();
    }

    /// Returns the language of the examples that the message resembles most.
    pub fn language_of(&self, text: &str) -> Option<Guess<'_>> {
        self.languages().classify(text)
    }

    fn languages(&self) -> &Model {
        let train = || {
            let labelled = self.0.examples.iter().zip(&self.0.languages);
            let labelled = labelled.map(|(example, of)| Example { label: of.clone(), text: example.text.clone() });
            Model::train(&labelled.collect::<Vec<_>>())
        };
        made_once(&self.0.by_language, train)
    }

    fn trained(&self) -> &Model {
        made_once(&self.0.model, || Model::train(&self.0.examples))
    }

    /// Labels each part of the examples by a model that is trained on the others. Returns how many are right, and how many there
    /// are. `each` gets a message, its label and the guess.
    #[cfg(test)]
    pub fn cross_validate(&self, parts: usize, mut each: impl FnMut(&str, &str, &str)) -> (usize, usize) {
        let mut right = 0;
        for part in 0..parts {
            let is_held_out = |n: usize| n % parts == part;
            let (held_out, others): (Vec<_>, Vec<_>) =
                self.0.examples.iter().cloned().enumerate().partition(|(n, _)| is_held_out(*n));
            let model = Model::train(&others.into_iter().map(|(_, example)| example).collect::<Vec<_>>());
            for (_, Example { label, text }) in held_out {
                let guess = model.classify(&text).map_or("", |guess| guess.label);
                right += usize::from(guess == label);
                each(&text, &label, guess);
            }
        }
        (right, self.0.examples.len())
    }
}

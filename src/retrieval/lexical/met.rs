//! Which of a question's meaningful words a text has, in any of their forms.

use std::collections::HashSet;
use std::sync::Arc;

use super::question::{Part, Question};
use super::{LexicalIndex, Term, terms_of};
use crate::domain::Language;
use crate::retrieval::Passage;

impl LexicalIndex {
    /// Returns whether a text contains most of a question's meaningful words, in any of their forms. A question without such words is
    /// always covered.
    pub fn is_covered_by(&self, question: &str, text: &str, language: Language) -> bool {
        let (met, all) = self.met_of(question, text, language);
        2 * met >= all
    }

    /// Returns how many of a question's meaningful words a text contains, in any of their forms, and how many there are.
    pub fn met_of(&self, question: &str, text: &str, language: Language) -> (usize, usize) {
        let met = self.weights_met(question, text, language);
        (met.iter().flatten().count(), met.len())
    }

    /// Returns the weight of a question's meaningful words that a text contains: rare words weigh more.
    pub fn weight_met(&self, question: &str, text: &str, language: Language) -> f64 {
        self.weights_met(question, text, language).iter().flatten().sum()
    }

    /// Returns the weight of each meaningful word of a question, or `None` for one that a text does not contain in any of its forms.
    fn weights_met(&self, question: &str, text: &str, language: Language) -> Vec<Option<f64>> {
        let (terms, question) = (self.terms(text, language), self.parsed(question, language));
        let is_met = |part: &&Part| part.ways.iter().any(|way| way.credit >= 1.0 && terms.contains(&way.term));
        question.strong().map(|part| Some(part).filter(is_met).map(|part| part.idf)).collect()
    }

    /// Returns the places of the texts that have the numbers and codes of a question ("180Hz", "AM5") that any of them has, or all places
    /// if none has them together.
    pub fn exact(&self, question: &str, texts: &[String], language: Language) -> Vec<usize> {
        Parts::of(self, question, texts, language).exact()
    }

    /// Returns the places of the texts that a question describes, by its words that tell them apart: all that have its numbers and
    /// codes, and of these the ones with the most of its other words. Empty if no word tells any apart.
    pub fn told(&self, question: &str, texts: &[String], language: Language) -> Vec<usize> {
        let parts = Parts::of(self, question, texts, language);
        let telling: Vec<&Part> = parts.telling().collect();
        let exact = parts.exact();
        let met = |at: usize| telling.iter().filter(|part| parts.has(part, at)).count();
        let most = exact.iter().map(|at| met(*at)).max().unwrap_or_default();
        if most == 0 { Vec::new() } else { exact.into_iter().filter(|at| met(*at) == most).collect() }
    }

    /// Returns the place of a section next to the passage's whose heading differs in one word, if the customer has named that word and not
    /// the passage's: "APN on iPhone" for "APN on Android". `said` has the customer's messages, the latest one first.
    pub fn named_sibling(&self, passage: &Passage, said: &[&str], language: Language) -> Option<usize> {
        let heading = self.parsed(&passage.section, language);
        let is_named = |part: &Part, text: &str| {
            let terms = self.terms(text, language);
            part.ways.iter().any(|way| way.credit >= 1.0 && terms.contains(&way.term))
        };
        let is_sibling = |section: &str| {
            let sibling = self.parsed(section, language);
            let ([own], [other], true) = (
                &missing_in(&sibling, &heading)[..],
                &missing_in(&heading, &sibling)[..],
                sibling.strong().count() > 1,
            ) else {
                return false;
            };
            let named = said.iter().map(|text| (is_named(own, text), is_named(other, text)));
            named.into_iter().find(|(own, other)| *own || *other) == Some((true, false))
        };
        let is_near = |place: &usize| {
            let piece = &self.pieces[*place];
            piece.path == passage.file && piece.section() != passage.section && is_sibling(&piece.section())
        };
        (0..self.pieces.len()).find(is_near)
    }

    pub(super) fn parsed(&self, question: &str, language: Language) -> Arc<Question> {
        self.parsed.of((language, question.to_owned()), |(_, question)| Question::of(question, language, self))
    }

    /// Returns the terms of a text that a question is compared with.
    fn terms(&self, text: &str, language: Language) -> Arc<HashSet<Term>> {
        self.compared.of((language, text.to_owned()), |(_, text)| {
            let words = self.rules.words(Some(language));
            terms_of(&words.analyzer.tokens(text), words).into_iter().collect()
        })
    }
}

/// Returns the meaningful words of a heading that another one does not have.
fn missing_in<'q>(heading: &'q Question, other: &Question) -> Vec<&'q Part> {
    let term = |part: &Part| part.ways.first().map(|way| way.term.clone());
    heading.strong().filter(|part| !other.strong().any(|known| term(known) == term(part))).collect()
}

/// The words of a question, and the texts that it is compared with.
struct Parts {
    question: Arc<Question>,
    texts: Vec<Arc<HashSet<Term>>>,
}

impl Parts {
    fn of(index: &LexicalIndex, question: &str, texts: &[String], language: Language) -> Self {
        let texts = texts.iter().map(|text| index.terms(text, language)).collect();
        Self { question: index.parsed(question, language), texts }
    }

    fn has(&self, part: &Part, at: usize) -> bool {
        part.ways.iter().any(|way| way.credit >= 1.0 && self.texts[at].contains(&way.term))
    }

    /// Returns the places of the texts that have all telling numbers and codes, or all places if none has.
    fn exact(&self) -> Vec<usize> {
        let exact: Vec<&Part> = self.telling().filter(|part| part.is_exact()).collect();
        let all = 0..self.texts.len();
        let found: Vec<usize> = all.clone().filter(|at| exact.iter().all(|part| self.has(part, *at))).collect();
        if found.is_empty() { all.collect() } else { found }
    }

    /// Returns the meaningful words that some of the texts have, and others do not.
    fn telling(&self) -> impl Iterator<Item = &Part> {
        let all = 0..self.texts.len();
        self.question.parts.iter().filter(move |part| {
            let met = all.clone().filter(|at| self.has(part, *at)).count();
            !part.weak && met > 0 && met < self.texts.len()
        })
    }
}

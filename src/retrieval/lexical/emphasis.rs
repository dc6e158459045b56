//! Marks the sentence of a quotation that most probably answers a question, so that the customer need not look for it.

use super::LexicalIndex;
use crate::domain::Language;
use crate::domain::text::sentences::{is_list_item, sentences};
use crate::nlu::examples::{Counts, Nearest};

#[cfg(test)]
mod tests;

/// What is known of a sentence for a question: the weight of the question's words that it has, how similar it is, the same divided by
/// that of the most similar sentence, and whether it has a number.
type Figures = [f64; 4];

/// Learned with a softmax from 1,719 labelled turns of `tests/data/dialogues`, by whether a sentence has what the answer must say.
const WEIGHTS: Figures = [0.23, 1.54, 1.39, 1.05];
/// A text of fewer sentences needs no mark.
const FEW: usize = 3;
/// How likely a sentence must be. Of the sentences that likely, 77 % have what the answer must say.
const LIKELY: f64 = 0.6;
/// The marks of bold text in Markdown.
const BOLD: &str = "**";

impl LexicalIndex {
    /// Returns a text with the sentence in bold that most probably answers a question. A short text is not changed, and neither is one
    /// without a likely sentence.
    pub fn emphasized(&self, question: &str, text: &str, language: Language) -> String {
        let sentences = sentences(text);
        if sentences.len() < FEW || text.contains(BOLD) {
            return text.to_owned();
        }
        let counts: Vec<Counts> = sentences.iter().map(|sentence| Counts::of(sentence)).collect();
        let similar = Nearest::new(&counts.iter().collect::<Vec<_>>()).similarities(&Counts::of(question));
        let most = similar.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let score = |(sentence, similarity): (&&str, &f64)| {
            let has_number = sentence.contains(|c: char| c.is_ascii_digit());
            let met = self.weight_met(question, sentence, language);
            let figures = [met, *similarity, similarity / most, f64::from(has_number)];
            figures.iter().zip(WEIGHTS).map(|(figure, weight)| figure * weight).sum::<f64>().exp()
        };
        let scores: Vec<f64> = sentences.iter().zip(&similar).map(score).collect();
        let best = scores.iter().zip(&sentences).max_by(|a, b| a.0.total_cmp(b.0));
        match best {
            // What announces a list is no answer.
            Some((score, sentence)) if *score >= LIKELY * scores.iter().sum::<f64>() && !sentence.ends_with(':') => {
                in_bold(text, sentence)
            }
            _ => text.to_owned(),
        }
    }
}

/// Returns a text with one of its sentences in bold. The mark of a list item stays in front.
fn in_bold(text: &str, sentence: &str) -> String {
    let mark = if is_list_item(sentence) { sentence.find(' ').map_or(0, |space| space + 1) } else { 0 };
    let sentence = &sentence[mark..];
    text.replacen(sentence, &format!("{BOLD}{sentence}{BOLD}"), 1)
}

//! Splits messages into their questions, and passages into the part that answers.

use super::LexicalIndex;
use crate::domain::Language;

impl LexicalIndex {
    /// Returns a text without the rows of its tables that have none of a question's meaningful words, if other rows have some.
    pub fn excerpt(&self, question: &str, text: &str, language: Language) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let label =
            |line: &str| line.split_once(": ").filter(|_| line.contains("; ")).map(|(label, _)| label.to_owned());
        let mut kept: Vec<&str> = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let first = label(lines[at]);
            let rows = lines[at..].iter().take_while(|line| first.is_some() && label(line) == first).count();
            let table = &lines[at..at + rows];
            let met: Vec<&str> =
                table.iter().filter(|row| self.met_of(question, row, language).0 > 0).copied().collect();
            kept.extend(if met.is_empty() || rows < 2 { &lines[at..at + rows.max(1)] } else { met.as_slice() });
            at += rows.max(1);
        }
        kept.join("\n")
    }

    /// Splits a message into questions, at question marks and words that join them, and these into clauses at other punctuation. Clauses
    /// without a meaningful word are left out, and so is what follows the last question mark. A message of one clause has none.
    pub fn clauses(&self, text: &str, language: Language) -> Vec<Vec<String>> {
        let words = self.rules.words(Some(language));
        let asked = text.rfind('?').map_or(text, |end| &text[..end]);
        let mut questions: Vec<Vec<String>> = Vec::new();
        for part in asked.split('?') {
            let mut clauses = vec![String::new()];
            for word in part.split_whitespace() {
                let is_join = words.joins.starts(&words.analyzer.tokens(word)) > 0;
                if is_join {
                    questions.push(std::mem::replace(&mut clauses, vec![String::new()]));
                    continue;
                }
                if let Some(clause) = clauses.last_mut() {
                    clause.push_str(word.trim_end_matches(is_pause));
                    clause.push(' ');
                }
                if word.ends_with(is_pause) {
                    clauses.push(String::new());
                }
            }
            questions.push(clauses);
        }
        for clauses in &mut questions {
            clauses.iter_mut().for_each(|clause| *clause = clause.trim_end().to_owned());
            clauses.retain(|clause| self.strong_words(clause, language) > 0);
        }
        questions.retain(|clauses| !clauses.is_empty());
        if questions.iter().map(Vec::len).sum::<usize>() > 1 { questions } else { Vec::new() }
    }
}

fn is_pause(c: char) -> bool {
    matches!(c, ',' | '.' | ';' | '!' | ':')
}

//! Recall, reciprocal rank and declined questions.

use std::collections::BTreeSet;

use serde::Serialize;

/// Shares of declined questions, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Declined {
    /// Of questions that documents answer; lower is better.
    pub declined_answerable: f64,
    /// Of questions that no document answers; higher is better.
    pub declined_unanswerable: f64,
}

/// Means over all questions, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Scores {
    pub recall_at_1: f64,
    pub recall_at_3: f64,
    pub recall_at_8: f64,
    pub mrr: f64,
}

impl Scores {
    /// Scores rankings of distinct documents. Each comes with at least one right document.
    pub(super) fn of(rankings: &[(Vec<String>, &BTreeSet<String>)]) -> Self {
        let mean = |value: &dyn Fn(&[String], &BTreeSet<String>) -> f64| {
            let total: f64 = rankings.iter().map(|(ranking, relevant)| value(ranking, relevant)).sum();
            total / (rankings.len().max(1) as f64)
        };
        Self {
            recall_at_1: mean(&|ranking, relevant| recall(ranking, relevant, 1)),
            recall_at_3: mean(&|ranking, relevant| recall(ranking, relevant, 3)),
            recall_at_8: mean(&|ranking, relevant| recall(ranking, relevant, 8)),
            mrr: mean(&reciprocal_rank),
        }
    }
}

fn recall(ranking: &[String], relevant: &BTreeSet<String>, k: usize) -> f64 {
    let found = ranking.iter().take(k).filter(|document| relevant.contains(*document)).count();
    found as f64 / relevant.len() as f64
}

fn reciprocal_rank(ranking: &[String], relevant: &BTreeSet<String>) -> f64 {
    let place = ranking.iter().position(|document| relevant.contains(document));
    place.map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &str) -> Vec<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn scores_are_means_over_questions() {
        let (one, two) = (BTreeSet::from_iter(texts("a b")), BTreeSet::from_iter(texts("z")));
        let scores = Scores::of(&[(texts("x a c b"), &one), (texts("x"), &two)]);
        let expected = Scores { recall_at_1: 0.0, recall_at_3: 0.25, recall_at_8: 0.5, mrr: 0.25 };
        assert_eq!(scores, expected);
        assert_eq!(Scores::of(&[]), Scores::default());
    }
}

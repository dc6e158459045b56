//! Measures the weights by labelled turns of dialogues, and learns them again.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::super::tests::{query, root, rules};
use super::*;
use crate::domain::Language;

/// One turn of these is read, for the time that all take. All are, to learn the weights again.
const READ: usize = 5;
/// Steps of the descent, and the length of the first one.
const STEPS: i32 = 300;
const STEP: f64 = 0.3;

#[derive(Deserialize)]
struct Dialogue {
    id: String,
    language: Language,
    turns: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    text: String,
    #[serde(default)]
    check: Check,
}

#[derive(Default, Deserialize)]
struct Check {
    #[serde(default)]
    says: Vec<String>,
}

/// A turn with the sections that answer it, as file and section. None if no page answers.
pub(in super::super) struct Labelled {
    pub desk: String,
    pub query: Query,
    subject: Option<Subject>,
    answers: Vec<(String, String)>,
    /// What the answer must say: alternatives, separated by `|`.
    pub says: Vec<String>,
}

/// Returns the labelled turns, and the questions that no page answers.
pub(in super::super) fn labelled() -> Vec<Labelled> {
    let folder = root().join("tests/data/dialogues");
    let mut dialogues: HashMap<String, Vec<Dialogue>> = HashMap::new();
    let mut subjects: HashMap<(String, String), Subject> = HashMap::new();
    let mut turns = Vec::new();
    let labels = std::fs::read_to_string(folder.join("sections.tsv")).expect("the labels");
    for line in labels.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (set, id, turn, sections) = (fields[0], fields[1], fields[2], &fields[3..]);
        let dialogues = dialogues.entry(set.to_owned()).or_insert_with(|| {
            let lines = std::fs::read_to_string(folder.join(format!("{set}.jsonl"))).expect("the dialogues of a label");
            lines.lines().map(|line| serde_json::from_str(line).expect("a dialogue")).collect()
        });
        let dialogue = dialogues.iter().find(|dialogue| dialogue.id == id).expect("the dialogue of a label");
        let said = &dialogue.turns[turn.parse::<usize>().expect("a number") - 1];
        let parts = sections.iter().filter_map(|section| section.split_once('#'));
        let desk = set.split('-').next().unwrap_or_default();
        let file = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
        let answers: Vec<(String, String)> = parts.map(|(of, section)| (file(of), section.to_owned())).collect();
        let dialogue_of = (set.to_owned(), id.to_owned());
        let before = subjects.get(&dialogue_of).cloned();
        if let Some((file, section)) = answers.first() {
            let subject = Subject { file: file.clone(), section: section.clone(), ..Subject::default() };
            subjects.insert(dialogue_of, subject);
        }
        let query = query(&said.text, dialogue.language, 8);
        let says = said.check.says.clone();
        turns.push(Labelled { desk: desk.to_owned(), query, subject: before, answers, says });
    }
    for (desk, file) in [("retail", "unanswerable.jsonl"), ("telecom", "telecom/unanswerable.jsonl")] {
        let lines = std::fs::read_to_string(root().join("tests/data").join(file)).expect("questions without an answer");
        for line in lines.lines() {
            let question: serde_json::Value = serde_json::from_str(line).expect("a question");
            let language = serde_json::from_value(question["language"].clone()).expect("a language");
            let query = query(question["query"].as_str().expect("a text"), language, 8);
            turns.push(Labelled { desk: desk.to_owned(), query, subject: None, answers: Vec::new(), says: Vec::new() });
        }
    }
    turns
}

pub(in super::super) fn indexes() -> BTreeMap<&'static str, LexicalIndex> {
    let folders = [("retail", "knowledge"), ("returns", "knowledge/returns"), ("telecom", "knowledge/telecom")];
    folders.map(|(desk, folder)| (desk, LexicalIndex::load(&root().join(folder), &rules()).expect(desk))).into()
}

impl Labelled {
    pub fn is_answered_by(&self, index: &LexicalIndex, place: usize) -> bool {
        let piece = &index.pieces[place];
        self.answers.iter().any(|(file, section)| *file == piece.path && *section == piece.section())
    }
}

/// When the weights were learned, 627 of these 758 sections were right, and 28 of 31 questions without an answer were declined.
#[test]
fn best_section_mostly_answers() {
    let indexes = indexes();
    let (mut right, mut all, mut declined, mut foreign) = (0, 0, 0, 0);
    for turn in labelled().iter().step_by(READ) {
        let index = &indexes[turn.desk.as_str()];
        let likely = index.likely_sections(&turn.query, turn.subject.as_ref());
        let (place, probability) = likely[0];
        if turn.answers.is_empty() {
            foreign += 1;
            declined += usize::from(probability < LIKELY);
        } else {
            all += 1;
            right += usize::from(turn.is_answered_by(index, place));
        }
    }
    println!("{right} of {all} sections are right, {declined} of {foreign} questions without an answer declined");
    assert!(all > 350 && right * 100 >= all * 78, "{right} of {all}");
    assert!(foreign > 30 && declined * 100 >= foreign * 75, "{declined} of {foreign}");
}

#[test]
fn rows_keep_their_order_among_sections() {
    let index = &indexes()["retail"];
    for text in ["cheapest monitor", "cheapest laptop"] {
        let query = query(text, Language::EN, 8);
        let rows = |found: ScoredChunks| -> Vec<usize> {
            let places = found.into_iter().map(|(place, _)| place);
            places.filter(|place| index.pieces[*place].product.is_some()).collect()
        };
        let by_words = rows(scores(Ranking::of(&query, index).answering()));
        assert!(by_words.len() > 1, "{text}");
        assert_eq!(rows(index.answering_about(&query, None)), by_words, "{text}");
    }
}

/// The weights of a section, and those of "none of them" after them.
const ALL: usize = WEIGHTS.len() + NONE_WEIGHTS.len();

/// The figures of one turn: each section with whether it answers, and "none of them" last.
struct Example(Vec<([f64; ALL], bool)>);

impl Example {
    fn of(turn: &Labelled, index: &LexicalIndex) -> Self {
        let question = index.parsed(&turn.query.text, turn.query.language);
        let (figures, none) = index.figures(&turn.query, turn.subject.as_ref(), &totals(&question, index));
        let mut rows: Vec<([f64; ALL], bool)> = Vec::new();
        for (place, of_chunk) in figures {
            let mut row = [0.0; ALL];
            row[..FIGURES].copy_from_slice(&of_chunk);
            rows.push((row, turn.is_answered_by(index, place)));
        }
        let mut row = [0.0; ALL];
        row[FIGURES..].copy_from_slice(&none);
        rows.push((row, turn.answers.is_empty()));
        Self(rows)
    }

    /// Returns the logarithm of the probability of the right rows, and adds its gradient.
    fn learn(&self, weights: &[f64; ALL], gradient: &mut [f64; ALL]) -> f64 {
        let scores: Vec<f64> = self.0.iter().map(|(row, _)| weighted(row, weights).exp()).collect();
        let all: f64 = scores.iter().sum();
        let right: f64 =
            scores.iter().zip(&self.0).filter(|(_, (_, is_right))| *is_right).map(|(score, _)| score).sum();
        for (score, (row, is_right)) in scores.iter().zip(&self.0) {
            let pull = if *is_right { score / right } else { 0.0 } - score / all;
            gradient.iter_mut().zip(row).for_each(|(sum, figure)| *sum += pull * figure);
        }
        (right / all).ln()
    }
}

/// Prints the weights that fit these turns best, and fails if they fit much better than those of the program. These learned from all
/// turns and from questions of another desk, so they fit a fifth of the turns a little worse: -0.762 for each, and -0.708.
#[test]
fn weights_fit_labelled_turns() {
    let indexes = indexes();
    let turns = labelled();
    let examples: Vec<Example> =
        turns.iter().step_by(READ).map(|turn| Example::of(turn, &indexes[turn.desk.as_str()])).collect();
    let examples: Vec<Example> = examples.into_iter().filter(|of| of.0.iter().any(|(_, is_right)| *is_right)).collect();
    let mut weights = [0.0; ALL];
    weights[..FIGURES].copy_from_slice(&WEIGHTS);
    weights[FIGURES..].copy_from_slice(&NONE_WEIGHTS);
    let mean = |weights: &[f64; ALL], gradient: &mut [f64; ALL]| {
        examples.iter().map(|example| example.learn(weights, gradient)).sum::<f64>() / as_f64(examples.len())
    };
    let shipped = mean(&weights, &mut [0.0; ALL]);
    // Each weight takes steps as long as its gradients are short (AdaGrad).
    let mut squares = [1e-9; ALL];
    for _ in 0..STEPS {
        let mut gradient = [0.0; ALL];
        mean(&weights, &mut gradient);
        for ((weight, gradient), square) in weights.iter_mut().zip(gradient).zip(&mut squares) {
            let gradient = gradient / as_f64(examples.len());
            *square += gradient * gradient;
            *weight += STEP * gradient / square.sqrt();
        }
    }
    let learned = mean(&weights, &mut [0.0; ALL]);
    println!("{weights:.2?}: {learned:.4} per turn, the program's weights {shipped:.4}");
    assert!(shipped >= learned - 0.08, "learn the weights again: {weights:.2?}");
}

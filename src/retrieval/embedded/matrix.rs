//! One collection in memory, searched exactly. 8-bit codes select the rows that can be among the nearest, and only
//! those are compared in full.
//!
//! Both forms are in memory, which takes 5 bytes per number. Codes alone would take a fifth, but a question compares
//! hundreds of rows in full, and reading them from the database would take longer than the whole search.

use std::collections::HashMap;
use std::ops::Range;

use super::codes::{Coded, Question, dot, encode, width};
use super::nearest::Nearest;
use crate::providers::vector::{Hit, Labels};

/// The minimum number of rows per thread. Below it, starting a thread costs more than it saves.
const ROWS_FOR_A_THREAD: usize = 8192;
/// The maximum number of threads. More do not help, because memory bandwidth is the limit.
const THREADS_MAX: usize = 4;

/// The rows of a collection, in no particular order.
#[derive(Debug, Default)]
pub struct Matrix {
    dimension: usize,
    vectors: Vec<f32>,
    codes: Vec<i8>,
    coded: Vec<Coded>,
    ids: Vec<String>,
    /// The index of each row by its id.
    places: HashMap<String, usize>,
    labels: LabelSets,
}

/// Labels as numbers, because thousands of rows share a few labels.
#[derive(Debug, Default)]
struct LabelSets {
    numbers: HashMap<(String, String), u32>,
    /// The labels of each row.
    rows: Vec<Box<[u32]>>,
}

impl Matrix {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Estimates the memory of this many rows in bytes, with 600 bytes for the id (stored twice) and the labels of a
    /// row.
    pub fn estimate(rows: usize, dimension: usize) -> usize {
        rows.saturating_mul(dimension.saturating_mul(5).saturating_add(600))
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Adds or replaces the row with this id. The vector must have unit length.
    pub fn put(&mut self, id: &str, vector: &[f32], labels: &Labels) {
        debug_assert_eq!(vector.len(), self.dimension);
        self.remove(id);
        self.vectors.extend_from_slice(vector);
        self.coded.push(encode(vector, &mut self.codes));
        self.places.insert(id.to_owned(), self.ids.len());
        self.ids.push(id.to_owned());
        self.labels.push(labels);
    }

    /// Removes the row with this id, if it exists. The last row takes its place.
    pub fn remove(&mut self, id: &str) {
        let Some(place) = self.places.remove(id) else { return };
        let last = self.ids.len() - 1;
        move_last(&mut self.vectors, self.dimension, last, place);
        move_last(&mut self.codes, width(self.dimension), last, place);
        self.coded.swap_remove(place);
        self.labels.rows.swap_remove(place);
        self.ids.swap_remove(place);
        if let Some(moved) = self.ids.get(place) {
            self.places.insert(moved.clone(), place);
        }
    }

    /// Removes the rows for whose id `keep` returns false.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let gone: Vec<String> = self.ids.iter().filter(|id| !keep(id)).cloned().collect();
        for id in gone {
            self.remove(&id);
        }
    }

    /// Returns at most `limit` rows with all these labels, nearest first. The result is the same as if every row were
    /// compared in full.
    pub fn nearest(&self, question: &Question, limit: usize, only: &Labels) -> Vec<Hit> {
        let wanted = self.labels.wanted(only);
        let (true, Some(wanted)) = (limit > 0, wanted) else { return Vec::new() };
        let mut best: Nearest<&str, &[f32]> = Nearest::new(limit);
        for candidate in self.candidates(question, limit, &wanted) {
            // Candidates are sorted by their upper bound: after one that cannot qualify, none can.
            if best.threshold().is_some_and(|threshold| candidate.at_most < f64::from(threshold)) {
                break;
            }
            let vector = self.vector(candidate.place);
            best.offer(dot(&question.vector, vector), &self.ids[candidate.place], vector);
        }
        let near = best.into_sorted().into_iter();
        near.map(|ranked| Hit {
            id: ranked.key.to_owned(),
            similarity: ranked.similarity,
            vector: ranked.value.to_vec(),
        })
        .collect()
    }

    /// Returns the rows that can be among the nearest, sorted by upper bound. A row is excluded if the lower bounds of
    /// `limit` others are above its upper bound.
    fn candidates(&self, question: &Question, limit: usize, wanted: &[u32]) -> Vec<Candidate> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let part = self.len().div_ceil(threads).max(ROWS_FOR_A_THREAD);
        let scan = |first: usize| self.scan(first..(first + part).min(self.len()), question, limit, wanted);
        // No thread outlives the scope. If a thread fails, this one does its part.
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let others: Vec<_> = (part..self.len())
                .step_by(part)
                .map(|first| (first, std::thread::Builder::new().spawn_scoped(scope, move || scan(first))))
                .collect();
            let own = scan(0);
            let others = others.into_iter().map(|(first, thread)| {
                let scanned = thread.ok().and_then(|thread| thread.join().ok());
                scanned.unwrap_or_else(|| scan(first))
            });
            std::iter::once(own).chain(others).collect()
        });
        let mut floor = Nearest::new(limit);
        let mut candidates = Vec::new();
        for part in parts {
            part.floor.into_sorted().into_iter().for_each(|ranked| floor.offer(ranked.similarity, ranked.key, ()));
            candidates.extend(part.candidates);
        }
        let threshold = floor.threshold().map_or(f64::NEG_INFINITY, f64::from);
        candidates.retain(|candidate| candidate.at_most >= threshold);
        candidates.sort_unstable_by(|a, b| b.at_most.total_cmp(&a.at_most));
        candidates
    }

    fn scan(&self, places: Range<usize>, question: &Question, limit: usize, wanted: &[u32]) -> Part {
        let mut part = Part { floor: Nearest::new(limit), candidates: Vec::new() };
        let mut threshold = f64::NEG_INFINITY;
        let width = width(self.dimension);
        for place in places {
            if !self.labels.has(place, wanted) {
                continue;
            }
            let coded = &self.coded[place];
            let guess = question.guess(&self.codes[place * width..(place + 1) * width], coded);
            let bound = question.bound(coded);
            let at_most = guess + bound;
            if at_most < threshold {
                continue;
            }
            part.candidates.push(Candidate { place, at_most });
            // Rounded down, so that it stays a lower bound.
            part.floor.offer(((guess - bound) as f32).next_down(), place, ());
            threshold = part.floor.threshold().map_or(f64::NEG_INFINITY, f64::from);
        }
        part
    }

    fn vector(&self, place: usize) -> &[f32] {
        &self.vectors[place * self.dimension..(place + 1) * self.dimension]
    }
}

/// Moves the last row to `place`. Each row has `width` numbers.
fn move_last<T: Copy>(rows: &mut Vec<T>, width: usize, last: usize, place: usize) {
    rows.copy_within(last * width..(last + 1) * width, place * width);
    rows.truncate(last * width);
}

/// The result of one thread.
struct Part {
    /// The highest lower bounds, at most `limit`.
    floor: Nearest<usize, ()>,
    candidates: Vec<Candidate>,
}

/// A row with the upper bound of its similarity.
struct Candidate {
    place: usize,
    at_most: f64,
}

impl LabelSets {
    /// Appends a row's labels.
    fn push(&mut self, labels: &Labels) {
        let number = |(name, value): (&String, &String)| {
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            *self.numbers.entry((name.clone(), value.clone())).or_insert(next)
        };
        self.rows.push(labels.iter().map(number).collect());
    }

    /// Returns the numbers of labels, or `None` if one of them is unknown.
    fn wanted(&self, only: &Labels) -> Option<Vec<u32>> {
        only.iter().map(|(name, value)| self.numbers.get(&(name.clone(), value.clone())).copied()).collect()
    }

    fn has(&self, place: usize, wanted: &[u32]) -> bool {
        wanted.iter().all(|number| self.rows[place].contains(number))
    }
}

#[cfg(test)]
mod tests;

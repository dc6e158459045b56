//! Keeps the items with the largest similarity. Ties are sorted by key.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The best items that were offered so far, at most `limit`.
#[derive(Debug)]
pub struct Nearest<K, V> {
    limit: usize,
    /// A heap with the worst item on top.
    kept: BinaryHeap<Ranked<K, V>>,
}

/// An item with its similarity. Better items compare as less.
#[derive(Clone, Debug)]
pub struct Ranked<K, V> {
    pub similarity: f32,
    pub key: K,
    pub value: V,
}

impl<K: Ord, V> Nearest<K, V> {
    pub fn new(limit: usize) -> Self {
        Self { limit, kept: BinaryHeap::new() }
    }

    /// Returns the similarity that a new item must reach, once there are `limit` items.
    pub fn threshold(&self) -> Option<f32> {
        if self.kept.len() < self.limit { None } else { self.kept.peek().map(|worst| worst.similarity) }
    }

    pub fn offer(&mut self, similarity: f32, key: K, value: V) {
        let ranked = Ranked { similarity, key, value };
        if self.kept.len() < self.limit {
            self.kept.push(ranked);
        } else if self.kept.peek().is_some_and(|worst| ranked < *worst) {
            self.kept.pop();
            self.kept.push(ranked);
        }
    }

    /// Returns the items, best first.
    pub fn into_sorted(self) -> Vec<Ranked<K, V>> {
        self.kept.into_sorted_vec()
    }
}

impl<K: Ord, V> Ord for Ranked<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then_with(|| self.key.cmp(&other.key))
    }
}

impl<K: Ord, V> PartialOrd for Ranked<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, V> PartialEq for Ranked<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, V> Eq for Ranked<K, V> {}

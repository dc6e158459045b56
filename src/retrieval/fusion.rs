//! Several rankings as one.

use std::collections::HashMap;
use std::hash::Hash;

/// Reciprocal rank fusion's k: how little the first place is worth more than the second.
///
/// Cormack, Clarke and Büttcher (SIGIR 2009) take 60, for lists of a thousand. Here they are of 24, where with 60 the last place would
/// be worth three quarters of the first: what stands low in both lists would come before what is first in one. 5 was
/// the best of 5, 10, 20 and 60 on the first half of `tests/data/retrieval.jsonl`.
pub const RANK_CONSTANT: f64 = 5.0;

/// A list, best first, and what its places weigh beside those of the others.
#[derive(Clone, Copy, Debug)]
pub struct Ranking<'a, T> {
    pub items: &'a [T],
    pub weight: f64,
}

/// Joins lists by reciprocal rank: an item's score is Σ weight/(k + rank) over the lists that have it, with ranks
/// counted from 1. Best first; of items that score alike, the one that an earlier list has earlier.
///
/// Only ranks count, so lists whose scores cannot be compared can be joined. An item that a list has twice counts by its first place.
pub fn reciprocal_rank<T: Clone + Eq + Hash>(lists: &[Ranking<'_, T>], k: f64) -> Vec<(T, f64)> {
    let mut order: Vec<(T, f64)> = Vec::new();
    let mut place: HashMap<T, (usize, usize)> = HashMap::new();
    for (n, list) in lists.iter().enumerate() {
        let mut rank = 0.0;
        for item in list.items {
            rank += 1.0;
            let (at, last) = place.entry(item.clone()).or_insert((order.len(), usize::MAX));
            if *last == n {
                continue;
            }
            *last = n;
            let score = list.weight / (k + rank);
            match order.get_mut(*at) {
                Some((_, sum)) => *sum += score,
                None => order.push((item.clone(), score)),
            }
        }
    }
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(lists: &[(&[&'static str], f64)]) -> Vec<&'static str> {
        let lists: Vec<_> = lists.iter().map(|(items, weight)| Ranking { items, weight: *weight }).collect();
        reciprocal_rank(&lists, 60.0).into_iter().map(|(item, _)| item).collect()
    }

    #[test]
    fn what_several_lists_have_comes_before_what_one_has() {
        assert_eq!(joined(&[(&["a", "b", "c"], 1.0), (&["d", "c", "b"], 1.0)]), ["b", "c", "a", "d"]);
        assert_eq!(joined(&[(&["a", "b"], 1.0), (&["b", "a"], 1.0)]), ["a", "b"]);
        assert_eq!(joined(&[(&["a", "b"], 1.0)]), ["a", "b"]);
        assert_eq!(joined(&[(&[], 1.0), (&["x"], 1.0)]), ["x"]);
        assert_eq!(joined(&[]), [""; 0]);
    }

    #[test]
    fn a_surer_list_decides_where_two_disagree() {
        assert_eq!(joined(&[(&["a", "b"], 1.0), (&["b", "a"], 1.5)]), ["b", "a"]);
    }

    #[test]
    fn a_score_is_the_sum_of_weighted_reciprocal_ranks() {
        let lists = [Ranking { items: &["a", "a", "b"], weight: 1.0 }, Ranking { items: &["b"], weight: 2.0 }];
        assert_eq!(reciprocal_rank(&lists, 60.0), [("b", 1.0 / 63.0 + 2.0 / 61.0), ("a", 1.0 / 61.0)]);
    }
}

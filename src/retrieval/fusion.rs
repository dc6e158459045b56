//! Several rankings as one.

use std::collections::HashMap;
use std::hash::Hash;

/// Reciprocal rank fusion's k, from Cormack, Clarke and Büttcher (SIGIR 2009): how little the first place is worth more than the
/// second.
pub const RANK_CONSTANT: f64 = 60.0;

/// Joins lists, each best first, by reciprocal rank: an item's score is Σ 1/(k + rank) over the lists that have it, with ranks
/// counted from 1. Best first; of items that score alike, the one that an earlier list has earlier.
///
/// Only ranks count, so lists whose scores cannot be compared can be joined. An item that a list has twice counts by its first place.
pub fn reciprocal_rank<T: Clone + Eq + Hash>(lists: &[Vec<T>], k: f64) -> Vec<(T, f64)> {
    let mut order: Vec<(T, f64)> = Vec::new();
    let mut place: HashMap<T, (usize, usize)> = HashMap::new();
    for (n, list) in lists.iter().enumerate() {
        let mut rank = 0.0;
        for item in list {
            rank += 1.0;
            let (at, last) = place.entry(item.clone()).or_insert((order.len(), usize::MAX));
            if *last == n {
                continue;
            }
            *last = n;
            match order.get_mut(*at) {
                Some((_, score)) => *score += 1.0 / (k + rank),
                None => order.push((item.clone(), 1.0 / (k + rank))),
            }
        }
    }
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(lists: &[&[&'static str]]) -> Vec<&'static str> {
        let lists: Vec<Vec<&str>> = lists.iter().map(|list| list.to_vec()).collect();
        reciprocal_rank(&lists, RANK_CONSTANT).into_iter().map(|(item, _)| item).collect()
    }

    #[test]
    fn what_several_lists_have_comes_before_what_one_has() {
        assert_eq!(joined(&[&["a", "b", "c"], &["d", "c", "b"]]), ["b", "c", "a", "d"]);
        assert_eq!(joined(&[&["a", "b"], &["b", "a"]]), ["a", "b"]);
        assert_eq!(joined(&[&["a", "b"]]), ["a", "b"]);
        assert_eq!(joined(&[&[], &["x"]]), ["x"]);
        assert_eq!(joined(&[]), [""; 0]);
    }

    #[test]
    fn a_score_is_the_sum_of_reciprocal_ranks() {
        let found = reciprocal_rank(&[vec!["a", "a", "b"], vec!["b"]], 60.0);
        assert_eq!(found, [("b", 1.0 / 63.0 + 1.0 / 61.0), ("a", 1.0 / 61.0)]);
    }
}

use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::retrieval::embedded::codes::unit;

const ANY: Labels = Labels::new();

fn matrix(rows: &[Vec<f32>]) -> Matrix {
    let mut matrix = Matrix::new(rows[0].len());
    for (number, row) in rows.iter().enumerate() {
        matrix.put(&format!("{number:05}"), &unit(row), &label(number));
    }
    matrix
}

fn label(number: usize) -> Labels {
    [("part".to_owned(), (number % 3).to_string())].into()
}

/// Compares every row in full and sorts the result.
fn naive(rows: &[Vec<f32>], question: &[f32], limit: usize, only: &Labels) -> Vec<(String, f32)> {
    let question = unit(question);
    let rows = rows.iter().enumerate().filter(|(number, _)| only.iter().all(|(k, v)| label(*number)[k] == *v));
    let mut all: Vec<(String, f32)> =
        rows.map(|(number, row)| (format!("{number:05}"), dot(&question, &unit(row)))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(limit);
    all
}

fn assert_same(rows: &[Vec<f32>], question: &[f32], limit: usize) {
    let matrix = matrix(rows);
    for only in [ANY, label(1)] {
        let found = matrix.nearest(&Question::new(question), limit, &only);
        let found: Vec<(String, f32)> = found.into_iter().map(|near| (near.id, near.similarity)).collect();
        assert_eq!(found, naive(rows, question, limit, &only));
    }
}

fn random(rng: &mut StdRng, dimension: usize) -> Vec<f32> {
    (0..dimension).map(|_| rng.random_range(-1.0..1.0)).collect()
}

proptest! {
    // Each case compares everything, and tests are not optimized.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn search_equals_full_comparison(
        seed: u64, dimension in 1_usize..130, rows in 1_usize..200, limit in 0_usize..30
    ) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows: Vec<Vec<f32>> = (0..rows).map(|_| random(&mut rng, dimension)).collect();
        assert_same(&rows, &random(&mut rng, dimension), limit);
    }

    /// Rows that differ by less than a step of their codes, around one direction, with one number that makes the steps
    /// large.
    #[test]
    fn rows_with_equal_codes_are_distinguished(
        seed: u64, spread in prop::sample::select(vec![0.0, 1e-9, 1e-7, 1e-5, 1e-3]), spike in 0.0_f32..100.0
    ) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut centre = random(&mut rng, 64);
        centre[0] = spike;
        let near = |rng: &mut StdRng| -> Vec<f32> {
            centre.iter().zip(random(rng, 64)).map(|(x, noise)| x + spread * noise).collect()
        };
        let rows: Vec<Vec<f32>> = (0..150).map(|_| near(&mut rng)).collect();
        let question = near(&mut rng);
        assert_same(&rows, &question, 24);
        assert_same(&rows, &random(&mut rng, 64), 24);
    }

    /// The question is the remainder of a row's codes, for which the estimate is worst.
    #[test]
    fn worst_estimate_still_gives_exact_results(seed: u64) {
        let mut rng = StdRng::seed_from_u64(seed);
        let rows: Vec<Vec<f32>> = (0..100).map(|_| random(&mut rng, 96)).collect();
        let row = unit(&rows[0]);
        let mut codes = Vec::new();
        let coded = encode(&row, &mut codes);
        let lost: Vec<f32> = row.iter().zip(&codes).map(|(x, code)| x - coded.scale * f32::from(*code)).collect();
        assert_same(&rows, &lost, 10);
    }
}

#[test]
fn equal_rows_are_sorted_by_id() {
    assert_same(&vec![vec![0.6, 0.8, 0.0]; 100], &[1.0, 0.0, 0.0], 24);
    assert_same(&vec![vec![0.0; 8]; 100], &[1.0; 8], 24);
    assert_same(&vec![vec![1.0; 8]; 100], &[0.0; 8], 24);
}

#[test]
fn replaced_and_removed_rows_leave_no_trace() {
    let mut rng = StdRng::seed_from_u64(7);
    let mut rows: Vec<Vec<f32>> = (0..60).map(|_| random(&mut rng, 20)).collect();
    let mut changed = matrix(&rows);
    for number in [0, 59, 30, 30] {
        rows[number] = random(&mut rng, 20);
        changed.put(&format!("{number:05}"), &unit(&rows[number]), &label(number));
    }
    changed.put("one more", &unit(&rows[3]), &label(0));
    changed.remove("one more");
    changed.remove("one more");
    let question = random(&mut rng, 20);
    let ids = |found: Vec<Hit>| found.into_iter().map(|near| (near.id, near.similarity)).collect::<Vec<_>>();
    assert_eq!(ids(changed.nearest(&Question::new(&question), 60, &ANY)), naive(&rows, &question, 60, &ANY));
    changed.retain(|id| id < "00002");
    assert_eq!(changed.len(), 2);
    assert_eq!(ids(changed.nearest(&Question::new(&question), 60, &ANY)), naive(&rows[..2], &question, 60, &ANY));
}

#[test]
fn search_with_several_threads_gives_the_same() {
    let mut rng = StdRng::seed_from_u64(11);
    let rows: Vec<Vec<f32>> = (0..3 * ROWS_FOR_A_THREAD + 5).map(|_| random(&mut rng, 6)).collect();
    assert_same(&rows, &random(&mut rng, 6), 24);
    assert_same(&rows[..ROWS_FOR_A_THREAD], &random(&mut rng, 6), 24);
}

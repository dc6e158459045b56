//! Quantizes vectors to 8 bits, with a bound on the error of their products.
//!
//! A vector `v` is stored as whole numbers `c` from −127 to 127 with `v ≈ s·c`, and the length of the remainder, `‖v −
//! s·c‖`. A question `q` becomes `t·d` in the same way. Then
//!
//! `q·v − s·t·(c·d) = t·d·(v − s·c) + (q − t·d)·v`
//!
//! and by the Cauchy–Schwarz inequality, the right side is at most `‖t·d‖·‖v − s·c‖ + ‖q − t·d‖·‖v‖`. The sum `c·d`
//! consists of whole numbers and is exact; errors of `f64` are negligible compared with [`SLACK`].

/// The largest code. The sum of two products of codes stays below 2¹⁵.
const MAX: f64 = 127.0;
/// The number of codes that are multiplied together. Rows are padded with zeros to a multiple of it.
const STEP: usize = 32;
/// Lengths are increased by this fraction, so that rounding never makes one too small.
const SLACK: f64 = 1e-6;
/// The number of parallel sums in [`dot`], chosen to fit the processor's registers.
const LANES: usize = 16;

/// The scale and the error bounds of a row's codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coded {
    /// The value of one step of a code.
    pub scale: f32,
    /// An upper bound for the length of the remainder.
    pub lost: f32,
    /// An upper bound for the length of the row.
    pub length: f32,
}

/// A question, prepared for comparison with rows.
#[derive(Clone, Debug)]
pub struct Question {
    /// Of unit length.
    pub vector: Vec<f32>,
    codes: Vec<i16>,
    scale: f64,
    coded_length: f64,
    lost: f64,
    length: f64,
}

/// Returns the number of codes in a row of this dimension.
pub fn width(dimension: usize) -> usize {
    dimension.next_multiple_of(STEP)
}

/// Appends the [`width`] codes of `row`, whose numbers must be finite.
pub fn encode(row: &[f32], codes: &mut Vec<i8>) -> Coded {
    let scale = step(row) as f32;
    let start = codes.len();
    codes.extend(row.iter().map(|x| nearest(*x, f64::from(scale)) as i8));
    let lost = row.iter().zip(&codes[start..]).map(|(x, code)| f64::from(*x) - f64::from(scale) * f64::from(*code));
    let (lost, length) = (above(length(lost)), above(length(row.iter().map(|x| f64::from(*x)))));
    codes.resize(start + width(row.len()), 0);
    Coded { scale, lost, length }
}

impl Question {
    /// Normalizes `vector` to unit length. Its numbers must be finite.
    pub fn new(vector: &[f32]) -> Self {
        let vector = unit(vector);
        let scale = step(&vector);
        let mut codes: Vec<i16> = vector.iter().map(|x| nearest(*x, scale) as i16).collect();
        let lost = length(vector.iter().zip(&codes).map(|(x, code)| f64::from(*x) - scale * f64::from(*code)));
        let coded_length = scale * length(codes.iter().map(|code| f64::from(*code)));
        let length = length(vector.iter().map(|x| f64::from(*x)));
        codes.resize(width(vector.len()), 0);
        Self { vector, codes, scale, coded_length, lost, length }
    }

    /// Estimates the similarity from the codes of a row.
    pub fn guess(&self, codes: &[i8], row: &Coded) -> f64 {
        f64::from(dot_codes(codes, &self.codes)) * self.scale * f64::from(row.scale)
    }

    /// Returns the maximum difference between the estimate and the result of [`dot`]: the error of the codes and the
    /// rounding of `dot`.
    pub fn bound(&self, row: &Coded) -> f64 {
        let (lost, length) = (f64::from(row.lost), f64::from(row.length));
        let codes = self.coded_length * lost + self.lost * length;
        // The relative error of a sum of n rounded products is at most n·2⁻²⁴. Here n is the number of additions in one
        // lane and of those that join the lanes and the rest. EPSILON is twice 2⁻²⁴.
        let additions = self.vector.len() / LANES + 2 * LANES + 2;
        let rounding = additions as f64 * f64::from(f32::EPSILON) * self.length * length;
        // Add the error of numbers that are too small for f32.
        (codes + rounding) * (1.0 + SLACK) + 1e-30
    }
}

/// Returns the product of two vectors of one dimension. The sum uses lanes, so that the compiler can vectorize it: it
/// may not reorder a sum of `f32`.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0_f32; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a.zip(b) {
        for (lane, (x, y)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += x * y;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Normalizes the vector to unit length. A zero vector stays zero.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let length = length(vector.iter().map(|x| f64::from(*x)));
    if length == 0.0 {
        return vector.to_vec();
    }
    vector.iter().map(|x| (f64::from(*x) / length) as f32).collect()
}

/// Returns the product of two rows of codes. Adds pairs of products in 16 bits before widening them: the compiler
/// vectorizes this on every x86-64, which halves the time.
fn dot_codes(row: &[i8], question: &[i16]) -> i32 {
    let mut lanes = [0_i32; 8];
    for (row, question) in row.as_chunks::<STEP>().0.iter().zip(question.as_chunks::<STEP>().0) {
        let pair = |at: usize| i16::from(row[at]) * question[at] + i16::from(row[at + 8]) * question[at + 8];
        let (mut low, mut high) = ([0_i16; 8], [0_i16; 8]);
        for at in 0..8 {
            low[at] = pair(at);
            high[at] = pair(at + 16);
        }
        for at in 0..8 {
            lanes[at] += i32::from(low[at]) + i32::from(high[at]);
        }
    }
    lanes.iter().sum()
}

/// Returns the value of one step, so that the largest number gets the largest code.
fn step(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max) / MAX
}

fn nearest(x: f32, step: f64) -> f64 {
    if step == 0.0 { 0.0 } else { (f64::from(x) / step).round().clamp(-MAX, MAX) }
}

fn length(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|x| x * x).sum::<f64>().sqrt()
}

/// Converts to f32, rounding up.
fn above(number: f64) -> f32 {
    ((number * (1.0 + SLACK)) as f32).next_up()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(question: &[f32], row: &[f32]) {
        let (question, row) = (Question::new(question), unit(row));
        let mut codes = Vec::new();
        let coded = encode(&row, &mut codes);
        let error = (f64::from(dot(&question.vector, &row)) - question.guess(&codes, &coded)).abs();
        assert!(error <= question.bound(&coded), "{error} {}", question.bound(&coded));
    }

    proptest! {
        #[test]
        fn error_stays_within_its_bound(
            pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 1..400)
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            check(&a, &b);
            // The sign of the remainder maximizes the error.
            let mut codes = Vec::new();
            let coded = encode(&unit(&b), &mut codes);
            let lost: Vec<f32> =
                unit(&b).iter().zip(&codes).map(|(x, code)| x - coded.scale * f32::from(*code)).collect();
            check(&lost, &b);
        }
    }

    #[test]
    fn badly_quantized_vectors_stay_within_the_bound() {
        let spike = |small: f32| (0..1024).map(|i| if i == 0 { 1.0 } else { small }).collect::<Vec<f32>>();
        let flat = vec![1.0; 1024];
        // Half a step in every number is the largest rounding error.
        for row in
            [spike(0.5 / 127.0), spike(1e-30), spike(f32::MIN_POSITIVE), vec![0.0; 1024], flat.clone(), vec![-1.0]]
        {
            check(&row, &row);
            check(&flat[..row.len()], &row);
            check(&spike(0.01)[..row.len()], &row);
        }
    }
}

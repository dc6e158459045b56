//! Vectors in 8 bits, and how far a product of codes can lie from the product of the vectors.
//!
//! A vector `v` is kept as whole numbers `c` of −127 to 127 with `v ≈ s·c`, and the length of what that leaves out, `‖v − s·c‖`. A
//! question `q` becomes `t·d` in the same way. Then
//!
//! `q·v − s·t·(c·d) = t·d·(v − s·c) + (q − t·d)·v`
//!
//! and by Cauchy and Schwarz the right side is at most `‖t·d‖·‖v − s·c‖ + ‖q − t·d‖·‖v‖`. The sum `c·d` is of whole numbers
//! and has no error; what is added in `f64` is too small to matter beside [`SLACK`].

/// The largest code. The sum of two products of codes stays below 2¹⁵.
const MAX: f64 = 127.0;
/// Codes that are multiplied in one go; rows are filled up with zeros to a multiple of it.
const STEP: usize = 32;
/// Lengths are made larger by this part, so that rounding never makes one too small.
const SLACK: f64 = 1e-6;
/// Sums that run side by side in [`dot`], so that they fit the processor's registers.
const LANES: usize = 16;

/// What is known of a row beside its codes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coded {
    /// What one step of a code is worth.
    pub scale: f32,
    /// At least the length of what the codes leave out.
    pub lost: f32,
    /// At least the length of the row.
    pub length: f32,
}

/// A question, ready to be compared with rows.
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

/// How many codes a row of this dimension has.
pub fn width(dimension: usize) -> usize {
    dimension.next_multiple_of(STEP)
}

/// Appends the codes of `row`, [`width`] of them. Every number of the row is finite.
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
    /// `vector` is finite; it is brought to unit length.
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

    /// The similarity that the codes of a row tell.
    pub fn guess(&self, codes: &[i8], row: &Coded) -> f64 {
        f64::from(dot_codes(codes, &self.codes)) * self.scale * f64::from(row.scale)
    }

    /// How far that can lie from what [`dot`] gives for the row and the question: the codes' error and the rounding of
    /// `dot` itself.
    pub fn bound(&self, row: &Coded) -> f64 {
        let (lost, length) = (f64::from(row.lost), f64::from(row.length));
        let codes = self.coded_length * lost + self.lost * length;
        // A sum of n rounded products lies within n·2⁻²⁴ of the true one, in parts of the product of the lengths; here n
        // is the additions one lane makes, and those that join the lanes and the rest. EPSILON is twice 2⁻²⁴.
        let additions = self.vector.len() / LANES + 2 * LANES + 2;
        let rounding = additions as f64 * f64::from(f32::EPSILON) * self.length * length;
        // Numbers too small for f32 to hold well come on top.
        (codes + rounding) * (1.0 + SLACK) + 1e-30
    }
}

/// The product of two vectors of one dimension. Adding in lanes is what lets the compiler use the processor's vectors:
/// a sum of `f32` may not be reordered.
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

/// The vector at unit length; one of zeros, which has no direction, stays.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let length = length(vector.iter().map(|x| f64::from(*x)));
    if length == 0.0 {
        return vector.to_vec();
    }
    vector.iter().map(|x| (f64::from(*x) / length) as f32).collect()
}

/// The product of two rows of codes. Products are added in pairs in 16 bits before they are widened, since the compiler
/// turns just this into eight at once on every x86-64: half the time of widening each of them.
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

/// What one step of the codes is worth, so that the largest number gets the largest code.
fn step(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max) / MAX
}

fn nearest(x: f32, step: f64) -> f64 {
    if step == 0.0 { 0.0 } else { (f64::from(x) / step).round().clamp(-MAX, MAX) }
}

fn length(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|x| x * x).sum::<f64>().sqrt()
}

/// The number in f32, and not less than it.
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
        fn no_error_of_the_codes_is_larger_than_its_bound(
            pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 1..400)
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            check(&a, &b);
            // The sign of what the codes leave out is where the error is largest.
            let mut codes = Vec::new();
            let coded = encode(&unit(&b), &mut codes);
            let lost: Vec<f32> =
                unit(&b).iter().zip(&codes).map(|(x, code)| x - coded.scale * f32::from(*code)).collect();
            check(&lost, &b);
        }
    }

    #[test]
    fn vectors_that_codes_hold_badly_stay_within_the_bound_too() {
        let spike = |small: f32| (0..1024).map(|i| if i == 0 { 1.0 } else { small }).collect::<Vec<f32>>();
        let flat = vec![1.0; 1024];
        // Half a step in every number: the worst that rounding does.
        for row in
            [spike(0.5 / 127.0), spike(1e-30), spike(f32::MIN_POSITIVE), vec![0.0; 1024], flat.clone(), vec![-1.0]]
        {
            check(&row, &row);
            check(&flat[..row.len()], &row);
            check(&spike(0.01)[..row.len()], &row);
        }
    }
}

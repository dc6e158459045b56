//! How long one question takes, with vectors in the database and with those same vectors on a Chroma server.
//!
//! `scripts/bench-vectors` runs it: it builds this for release, starts the server, and names it in `CHROMA_URL`.
#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use frontdesk::config::VectorConfig;
use frontdesk::domain::TenantId;
use frontdesk::providers::vector::{ChromaIndex, Collection, Labels, Record, Space, VectorIndex};
use frontdesk::retrieval::embedded::EmbeddedIndex;
use frontdesk::store::{Store, StoreOptions};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const DIMENSION: usize = 1024;
/// As many as retrieval asks for.
const NEAREST: usize = 24;
const QUESTIONS: usize = 200;
const WARM_UP: usize = 20;
/// Records that are written at once.
const BATCH: usize = 1000;

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::var("CHROMA_URL").context("CHROMA_URL is not set: run scripts/bench-vectors")?;
    let folder = tempfile::tempdir()?;
    let options = StoreOptions {
        url: format!("sqlite://{}", folder.path().join("bench.db").display()),
        timeout: Duration::from_secs(60),
        connections: 4,
    };
    let embedded = EmbeddedIndex::new(Store::open(&options).await?, VectorConfig::default().memory_max());
    let chroma =
        ChromaIndex::new(&url, &VectorConfig { timeout: Duration::from_secs(120), ..VectorConfig::default() })?;
    println!("{DIMENSION} numbers a vector, {NEAREST} nearest, {QUESTIONS} questions one after another");
    for rows in [2_000, 50_000] {
        compare(&embedded, &chroma, rows).await?;
    }
    Ok(())
}

async fn compare(embedded: &EmbeddedIndex, chroma: &ChromaIndex, rows: usize) -> Result<()> {
    let collection = Collection { tenant: TenantId::default(), name: format!("bench_{rows}") };
    let mut made = Vectors::new();
    for (index, name) in [(embedded as &dyn VectorIndex, "embedded"), (chroma, "Chroma")] {
        made = Vectors::new();
        let began = Instant::now();
        fill(index, &collection, rows, &mut made).await?;
        println!("{rows} vectors written, {name}: {:.1} s", began.elapsed().as_secs_f64());
    }
    let questions: Vec<Vec<f32>> = (0..WARM_UP + QUESTIONS).map(|_| made.next()).collect();
    let began = Instant::now();
    embedded.query(&collection, &questions[0], NEAREST, &Labels::new()).await?;
    println!("{rows} vectors loaded, embedded: {:.2} s", began.elapsed().as_secs_f64());
    let (ours, exact) = ask(embedded, &collection, &questions).await?;
    let (theirs, approximate) = ask(chroma, &collection, &questions).await?;
    let both: usize = exact.iter().zip(&approximate).map(|(a, b)| a.iter().filter(|id| b.contains(id)).count()).sum();
    let share = both as f64 / (QUESTIONS * NEAREST) as f64;
    println!("{rows} vectors, embedded (exact):     p50 {:.2} ms, p95 {:.2} ms", ours.p50, ours.p95);
    println!("{rows} vectors, Chroma (approximate): p50 {:.2} ms, p95 {:.2} ms", theirs.p50, theirs.p95);
    println!(
        "{rows} vectors, embedded / Chroma:    p50 {:.2}, p95 {:.2}",
        ours.p50 / theirs.p50,
        ours.p95 / theirs.p95
    );
    println!("{rows} vectors, of the {NEAREST} nearest Chroma found {:.1} %", share * 100.0);
    Ok(())
}

async fn fill(index: &dyn VectorIndex, collection: &Collection, rows: usize, made: &mut Vectors) -> Result<()> {
    index.open(collection, &Space { model: "bench".to_owned(), dimension: DIMENSION }).await?;
    for first in (0..rows).step_by(BATCH) {
        let records: Vec<Record> = (first..rows.min(first + BATCH))
            .map(|number| Record {
                id: format!("document-{number:06}"),
                vector: made.next(),
                text: String::new(),
                metadata: [("folder".to_owned(), "knowledge".to_owned())].into(),
            })
            .collect();
        index.upsert(collection, &records).await?;
    }
    Ok(())
}

struct Percentiles {
    p50: f64,
    p95: f64,
}

/// The times in milliseconds, and the ids that were found for each question.
async fn ask(
    index: &dyn VectorIndex,
    collection: &Collection,
    questions: &[Vec<f32>],
) -> Result<(Percentiles, Vec<Vec<String>>)> {
    let (mut times, mut found) = (Vec::new(), Vec::new());
    for question in questions {
        let began = Instant::now();
        let hits = index.query(collection, question, NEAREST, &Labels::new()).await?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        found.push(hits.into_iter().map(|hit| hit.id).collect());
    }
    let (mut times, found) = (times.split_off(WARM_UP), found.split_off(WARM_UP));
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    Ok((Percentiles { p50: at(0.5), p95: at(0.95) }, found))
}

/// Vectors around a few hundred topics, which lie around one direction, as those of embedding models do. The same in every run.
struct Vectors {
    random: StdRng,
    topics: Vec<Vec<f32>>,
}

impl Vectors {
    fn new() -> Self {
        let mut random = StdRng::seed_from_u64(1);
        let centre = noise(&mut random);
        let topics = (0..300).map(|_| sum(&centre, &noise(&mut random))).collect();
        Self { random, topics }
    }

    fn next(&mut self) -> Vec<f32> {
        let topic = &self.topics[self.random.random_range(0..self.topics.len())];
        let vector = sum(topic, &noise(&mut self.random));
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.into_iter().map(|x| x / length).collect()
    }
}

/// A direction of no preference: each number a sum of uniform ones, which is nearly normal.
fn noise(random: &mut StdRng) -> Vec<f32> {
    (0..DIMENSION).map(|_| (0..4).map(|_| random.random_range(-1.0_f32..1.0)).sum()).collect()
}

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

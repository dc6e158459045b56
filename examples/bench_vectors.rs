//! How long a search takes: with vectors in the database, with the same vectors on a Chroma server, and without this program's client.
//!
//! `scripts/bench vectors` runs it, with a server in `CHROMA_URL`, and reads the JSON line of each size.
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
use serde_json::{Value, json};

const DIMENSION: usize = 1024;
/// As many as retrieval asks for.
const NEAREST: usize = 24;
const SIZES: [usize; 3] = [1_000, 10_000, 50_000];
/// The first round warms up and does not count.
const ROUNDS: usize = 8;
const QUESTIONS: usize = 40;
/// Records that are written at once.
const BATCH: usize = 1000;

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::var("CHROMA_URL").context("CHROMA_URL is not set: run scripts/bench vectors")?;
    let folder = tempfile::tempdir()?;
    let options = StoreOptions {
        url: format!("sqlite://{}", folder.path().join("bench.db").display()),
        timeout: Duration::from_secs(60),
        connections: 4,
    };
    let embedded = EmbeddedIndex::new(Store::open(&options).await?, VectorConfig::default().memory_max);
    let chroma =
        ChromaIndex::new(&url, &VectorConfig { timeout: Duration::from_secs(120), ..VectorConfig::default() })?;
    for rows in SIZES {
        let name = format!("bench_{rows}");
        let collection = Collection { tenant: TenantId::default(), name: name.clone() };
        for index in [&embedded as &dyn VectorIndex, &chroma] {
            fill(index, &collection, rows, &mut Vectors::new()).await?;
        }
        println!("{}", compare(&embedded, &chroma, &Direct::find(&url, &name).await?, &collection, rows).await?);
    }
    Ok(())
}

/// Returns the median of each round in milliseconds.
async fn compare(
    embedded: &EmbeddedIndex,
    chroma: &ChromaIndex,
    direct: &Direct,
    collection: &Collection,
    rows: usize,
) -> Result<Value> {
    let mut made = Vectors::new();
    let (mut exact, mut through_us, mut without_us, mut found) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS {
        let questions: Vec<Vec<f32>> = (0..QUESTIONS).map(|_| made.next()).collect();
        let (ours, nearest) = ask(embedded, collection, &questions).await?;
        let (theirs, near) = ask(chroma, collection, &questions).await?;
        let alone = direct.ask(&questions).await?;
        if round > 0 {
            found +=
                nearest.iter().zip(&near).map(|(a, b)| a.iter().filter(|id| b.contains(id)).count()).sum::<usize>();
            exact.push(ours);
            through_us.push(theirs);
            without_us.push(alone);
        }
    }
    let share = found as f64 / ((ROUNDS - 1) * QUESTIONS * NEAREST) as f64;
    Ok(json!({
        "vectors": rows, "embedded_ms": exact, "through_us_ms": through_us, "direct_ms": without_us, "chroma_finds": share,
    }))
}

/// The same request as ours, as a program would send it that does nothing else.
struct Direct {
    http: reqwest::Client,
    query: String,
}

impl Direct {
    async fn find(url: &str, collection: &str) -> Result<Self> {
        let http = reqwest::Client::new();
        let base = format!("{url}/api/v2/tenants/default_tenant/databases/default_database/collections");
        let found: Value = http.get(format!("{base}/{collection}")).send().await?.json().await?;
        let id = found["id"].as_str().context("the collection has no id")?;
        Ok(Self { http, query: format!("{base}/{id}/query") })
    }

    async fn ask(&self, questions: &[Vec<f32>]) -> Result<f64> {
        let mut times = Vec::new();
        for question in questions {
            let body =
                json!({"query_embeddings": [question], "n_results": NEAREST, "include": ["distances", "embeddings"]});
            let began = Instant::now();
            let answer: Value =
                self.http.post(&self.query).json(&body).send().await?.error_for_status()?.json().await?;
            times.push(began.elapsed());
            anyhow::ensure!(answer["ids"][0].as_array().is_some_and(|ids| ids.len() == NEAREST), "not {NEAREST} hits");
        }
        Ok(median(times))
    }
}

fn space() -> Space {
    Space { model: "bench".to_owned(), dimension: DIMENSION }
}

async fn fill(index: &dyn VectorIndex, collection: &Collection, rows: usize, made: &mut Vectors) -> Result<()> {
    index.open(collection, &space()).await?;
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

/// The median of the times in milliseconds, and the ids that were found for each question.
async fn ask(
    index: &dyn VectorIndex,
    collection: &Collection,
    questions: &[Vec<f32>],
) -> Result<(f64, Vec<Vec<String>>)> {
    let (mut times, mut found) = (Vec::new(), Vec::new());
    for question in questions {
        let began = Instant::now();
        let hits = index.query(collection, &space(), question, NEAREST, &Labels::new()).await?;
        times.push(began.elapsed());
        found.push(hits.into_iter().map(|hit| hit.id).collect());
    }
    Ok((median(times), found))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
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

use std::collections::BTreeMap;
use std::time::Duration;

use super::{EmbedConfig, Env};

/// Looking something up in the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchConfig {
    /// `NO_CONTEXT_MIN_HITS`: 3 near chunks at least, or nothing was found by meaning.
    pub min_hits: usize,
    /// `NO_CONTEXT_THRESHOLDS`: the mean cosine below which nothing was found by meaning, by embedding model. A model that is
    /// not named gets 0.5, or what the documents' own vectors ask for if that is more.
    pub thresholds: BTreeMap<String, f64>,
    /// How long looking among the vectors may take: as long as `EMBED_QUERY_TIMEOUT_MS`; after that, words alone count.
    pub vector_timeout: Duration,
    /// Chunks that are embedded and stored together: `EMBED_BATCH`.
    pub batch: usize,
    /// `MEMORY_MESSAGES`: messages of the conversation that the model is reminded of when its window does not hold them.
    pub memory_messages: usize,
}

impl SearchConfig {
    pub(super) fn read(env: &mut Env, embed: &EmbedConfig) -> Self {
        Self {
            min_hits: env.number("NO_CONTEXT_MIN_HITS", 3),
            thresholds: thresholds(env),
            vector_timeout: embed.query_timeout,
            batch: embed.batch,
            memory_messages: env.number("MEMORY_MESSAGES", 4),
        }
    }
}

fn thresholds(env: &mut Env) -> BTreeMap<String, f64> {
    const NAME: &str = "NO_CONTEXT_THRESHOLDS";
    let mut thresholds = BTreeMap::new();
    for entry in env.text(NAME, "").split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let pair = entry.rsplit_once('=').and_then(|(model, value)| Some((model.trim(), value.trim().parse().ok()?)));
        match pair {
            Some((model, value)) if (-1.0..=1.0).contains(&value) && !model.is_empty() => {
                thresholds.insert(model.to_owned(), value);
            }
            _ => env.refuse(NAME, format!("'{entry}' cannot be used: write MODEL=COSINE, for example bge-m3=0.5")),
        }
    }
    thresholds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_a_threshold_of_its_own() {
        let read = |value: &str| {
            let mut env = Env::of([("NO_CONTEXT_THRESHOLDS".to_owned(), value.to_owned())]);
            (thresholds(&mut env).into_iter().collect::<Vec<_>>(), env.into_errors().len())
        };
        assert_eq!(read("bge-m3=0.5, e5:latest = 0.83"), (vec![("bge-m3".into(), 0.5), ("e5:latest".into(), 0.83)], 0));
        assert_eq!(read(""), (vec![], 0));
        assert_eq!(read("0.5,bge-m3=2,=0.5").1, 3);
    }
}

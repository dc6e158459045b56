//! `frontdesk eval retrieval`: measures whether the documents that answer a question are found.
//!
//! - `questions`: the file of the questions
//! - `rankers`: the search methods that are compared
//! - `score`: recall, reciprocal rank and declined questions

use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use self::questions::Question;
use self::rankers::{Lexical, Ranker, Vector};
use self::score::{Declined, Scores};
use crate::cli::index::{check_folder, embedder};
use crate::cli::output;
use crate::config::{Config, Env};
use crate::persona::Prompts;
use crate::providers::embedding::Embedder;
use crate::retrieval::{LexicalIndex, SearchRules, Shelf, folder};

mod questions;
mod rankers;
mod score;

/// The arguments of `frontdesk eval retrieval`.
///
/// Each line of the file is `{"id":"q1","query":"…","documents":["delivery","returns"]}`, where documents are file names without
/// extension. `"language":"vi"` is optional, and other keys are ignored.
///
/// Recall@k is the share of a question's documents among the first k different documents of the ranking, averaged over the
/// questions. MRR is the mean of 1/rank of the first right document (0 if none is ranked). Both measure the ranking alone,
/// without declining questions.
///
/// With --unanswerable, the share of declined questions is measured for both kinds of questions. Its lines have no documents.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the documents, without subfolders [default: KNOWLEDGE_PATH]
    #[arg(long, value_name = "FOLDER")]
    pub path: Option<PathBuf>,
    /// The questions, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl")]
    pub questions: PathBuf,
    /// Questions that no document answers, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl")]
    pub unanswerable: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<Measured> {
    let config = Config::read(Env::from_process())?;
    let embedder = embedder(&config)?;
    measure(args, &config, &embedder).await
}

/// The result of a measurement.
#[derive(Debug)]
pub struct Measured {
    pub questions: usize,
    pub documents: usize,
    pub chunks: usize,
    /// The figures of each ranker, in output order.
    pub rankings: Vec<Figures>,
    /// Warnings.
    pub remarks: Vec<String>,
}

/// The figures of one ranker.
#[derive(Debug, Serialize)]
pub struct Figures {
    #[serde(skip)]
    pub name: &'static str,
    #[serde(flatten)]
    pub scores: Scores,
    /// With --unanswerable.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub declined: Option<Declined>,
}

/// Reads the documents and the questions, and measures every available ranker.
///
/// # Errors
/// Fails if a file is not valid, or if the embedding model stops answering.
pub async fn measure(args: &Args, config: &Config, embedder: &Embedder) -> anyhow::Result<Measured> {
    let questions = Question::read(&args.questions)?;
    let unanswerable = args.unanswerable.as_deref().map(Question::read_unanswerable).transpose()?;
    let unanswerable = unanswerable.as_deref();
    let prompts = Prompts::load(&config.prompts.folder, &config.prompts.persona)?;
    let rules = SearchRules::read(&prompts)?;
    let shelf = read_documents(args, config, &rules)?;
    let mut measured = Measured {
        questions: questions.len(),
        documents: shelf.report.documents,
        chunks: shelf.chunks.len(),
        rankings: Vec::new(),
        remarks: questions::unknown_documents(&questions, &shelf),
    };
    let lexical = Lexical::new(LexicalIndex::build(shelf, &rules));
    measured.add(Ranker::Lexical(&lexical), &questions, unanswerable).await?;
    match embedder.space().await {
        Ok(_) => {
            let vector = Vector::new(&lexical, embedder, &config.search).await?;
            measured.add(Ranker::Vector(&vector), &questions, unanswerable).await?;
            measured.add(Ranker::Hybrid(&vector), &questions, unanswerable).await?;
        }
        Err(error) => measured.remarks.push(format!(
            "only lexical search was measured: {error}. For the others, start Ollama and run `ollama pull {}`",
            config.embed.model
        )),
    }
    Ok(measured)
}

fn read_documents(args: &Args, config: &Config, rules: &SearchRules) -> anyhow::Result<Shelf> {
    let root = args.path.as_ref().unwrap_or(&config.knowledge.folder);
    check_folder(root)?;
    let shelf = folder::read(root, "", rules, &config.knowledge.chunks)?;
    anyhow::ensure!(!shelf.chunks.is_empty(), "{} has no documents: name another folder with --path", root.display());
    Ok(shelf)
}

impl Measured {
    async fn add(
        &mut self,
        ranker: Ranker<'_>,
        questions: &[Question],
        unanswerable: Option<&[Question]>,
    ) -> anyhow::Result<()> {
        let mut rankings = Vec::with_capacity(questions.len());
        for question in questions {
            rankings.push((rankers::documents(&ranker.rank(question).await?), &question.documents));
        }
        let declined = match unanswerable {
            Some(unanswerable) => Some(Declined {
                declined_answerable: declined(ranker, questions).await?,
                declined_unanswerable: declined(ranker, unanswerable).await?,
            }),
            None => None,
        };
        self.rankings.push(Figures { name: ranker.name(), scores: Scores::of(&rankings), declined });
        Ok(())
    }
}

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.rankings.iter().map(|figures| (figures.name, figures)))
    }
}

impl output::Report for Measured {
    fn write_remarks(&self, err: &mut dyn Write, _json: bool) -> io::Result<()> {
        self.remarks.iter().try_for_each(|remark| writeln!(err, "{remark}"))
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { questions, documents, chunks, .. } = self;
        writeln!(out, "{questions} questions, {documents} documents, {chunks} chunks")?;
        writeln!(out, "          recall@1  recall@3  recall@8  MRR")?;
        for Figures { name, scores: Scores { recall_at_1, recall_at_3, recall_at_8, mrr }, .. } in &self.rankings {
            writeln!(out, "{name:<9} {recall_at_1:<9.3} {recall_at_3:<9.3} {recall_at_8:<9.3} {mrr:.3}")?;
        }
        if self.rankings.iter().any(|figures| figures.declined.is_some()) {
            writeln!(out, "declined  answerable  unanswerable")?;
        }
        for Figures { name, declined, .. } in &self.rankings {
            if let Some(Declined { declined_answerable, declined_unanswerable }) = declined {
                writeln!(out, "{name:<9} {declined_answerable:<11.3} {declined_unanswerable:.3}")?;
            }
        }
        Ok(())
    }
}

/// Returns the share of the questions that the ranker declines.
async fn declined(ranker: Ranker<'_>, questions: &[Question]) -> anyhow::Result<f64> {
    let mut declined = 0_usize;
    for question in questions {
        declined += usize::from(ranker.declines(question).await?);
    }
    Ok(declined as f64 / questions.len().max(1) as f64)
}

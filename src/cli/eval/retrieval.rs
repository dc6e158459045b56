//! `frontdesk eval retrieval`: whether the documents that answer a question are found.
//!
//! - `questions`: the file of the questions
//! - `rankers`: the ways to find documents
//! - `score`: recall and reciprocal rank, and what is declined

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Map, Value};

use self::questions::Question;
use self::rankers::{Hybrid, Lexical, Ranker, Vector};
use self::score::{Declined, Scores};
use crate::cli::index::{check_folder, embedder};
use crate::config::{Config, Env};
use crate::persona::Prompts;
use crate::providers::embedding::Embedder;
use crate::retrieval::{LexicalIndex, SearchRules, Shelf, folder};

mod questions;
mod rankers;
mod score;

/// The arguments of `frontdesk eval retrieval`.
///
/// The lines of the file are `{"id":"q1","query":"…","documents":["delivery","returns"]}`, where documents are stems of files;
/// `"language":"vi"` is optional, and other keys are left alone.
///
/// Recall@k is counted by document: the share of a question's documents that are among the first k different documents of the
/// ranking, averaged over the questions. MRR is the mean of 1/rank of the first of them (0 where none is ranked). These
/// measure the ranking alone: nothing is declined.
///
/// With --unanswerable, the shares of both kinds of questions are measured too for which a desk would be told that nothing answers.
/// Its lines are the same, without documents.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the documents instead of KNOWLEDGE_PATH: the files at its top
    #[arg(long, value_name = "FOLDER")]
    pub path: Option<PathBuf>,
    /// The questions, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub questions: PathBuf,
    /// Questions that no document answers, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub unanswerable: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(args: &Args) -> anyhow::Result<()> {
    let config = Config::read(Env::from_process())?;
    let embedder = embedder(&config)?;
    let measured = measure(args, &config, &embedder).await?;
    for remark in &measured.remarks {
        eprintln!("{remark}");
    }
    let mut out = io::stdout().lock();
    let printed = if args.json { measured.write_json(&mut out) } else { measured.write_text(&mut out) };
    match printed.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("the result cannot be printed"),
        _ => Ok(()),
    }
}

/// What came out.
#[derive(Debug)]
pub struct Measured {
    pub questions: usize,
    pub documents: usize,
    pub chunks: usize,
    /// By the ranker's name, in the order in which they are shown.
    pub rankings: Vec<Figures>,
    /// What one should know beside the figures.
    pub remarks: Vec<String>,
}

/// One ranker's figures.
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

/// Reads the documents and the questions, and ranks with everything that is there.
///
/// # Errors
/// A file cannot be used, or the embedding model breaks off after it began.
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
    measured.add(&lexical, &questions, unanswerable).await?;
    match embedder.space().await {
        Ok(_) => {
            let vector = Vector::new(&lexical, embedder, &config.search).await?;
            measured.add(&vector, &questions, unanswerable).await?;
            measured.add(&Hybrid(&vector), &questions, unanswerable).await?;
        }
        Err(error) => measured.remarks.push(format!(
            "lexical alone: {error}; for the others start Ollama and run `ollama pull {}`",
            config.embed.model
        )),
    }
    Ok(measured)
}

fn read_documents(args: &Args, config: &Config, rules: &SearchRules) -> anyhow::Result<Shelf> {
    let root = args.path.as_ref().unwrap_or(&config.knowledge.folder);
    check_folder(root)?;
    let shelf = folder::read(root, "", rules, &config.knowledge.chunks)?;
    anyhow::ensure!(!shelf.chunks.is_empty(), "{} holds no documents: name another folder with --path", root.display());
    Ok(shelf)
}

impl Measured {
    async fn add(
        &mut self,
        ranker: &dyn Ranker,
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

    fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.rankings.iter().map(|it| Ok((it.name.to_owned(), serde_json::to_value(it)?)));
        let figures: Map<String, Value> = figures.collect::<serde_json::Result<_>>()?;
        serde_json::to_writer(&mut *out, &figures)?;
        writeln!(out)
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
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

/// The share of these questions for which a desk would be told that nothing answers.
async fn declined(ranker: &dyn Ranker, questions: &[Question]) -> anyhow::Result<f64> {
    let mut declined = 0_usize;
    for question in questions {
        declined += usize::from(ranker.declines(question).await?);
    }
    Ok(declined as f64 / questions.len().max(1) as f64)
}

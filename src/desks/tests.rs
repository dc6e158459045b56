//! The cost of reading a customer's text grows in proportion to its length.

use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;

use super::commerce;
use super::retail::rules::RetailRules;
use super::returns::decision_parser;
use super::returns::rules::ReturnsRules;
use super::telecom::rules::TelecomRules;
use crate::agent::reply_text::for_customer;
use crate::app::list_file::Table;
use crate::domain::list::Column as _;
use crate::domain::returns::listing::Field;
use crate::domain::serial::find_candidates;
use crate::domain::{Language, Vocabulary};
use crate::grounding::claims::ClaimRules;
use crate::grounding::tests::{grounding, read_reply};
use crate::nlu::facts::{self, Lexicon};
use crate::nlu::instalments::Instalments;
use crate::nlu::language::LanguageRules;
use crate::nlu::pick::PickRules;
use crate::persona::Prompts;
use crate::retrieval::Query;
use crate::retrieval::lexical::LexicalIndex;
use crate::retrieval::markdown::outline;
use crate::retrieval::rules::SearchRules;

/// The longer of the two lengths that are compared, in bytes.
const MESSAGE: usize = 1_400;
/// The longer length for replies, much longer than what a guard buffers.
const REPLY: usize = 3_000;
/// Twice the text may cost less than this many times the work.
const MOST: f64 = 3.0;
/// How often a pair of lengths is measured before the test fails. The median of the ratios counts, each of two measurements in a row:
/// a processor's speed changes, so the shortest times of all attempts may come from moments that do not compare.
const ATTEMPTS: usize = 41;
/// The pause between two measurements of a pair, so that they do not all lie in one busy moment of the machine.
const PAUSE: Duration = Duration::from_millis(50);
/// Work that is done faster than this is not worth comparing.
const NOTHING: Duration = Duration::from_micros(500);

/// What is repeated to the wanted length. `{n}` counts up.
const PIECES: [&str; 47] = [
    "1,",
    "1, ",
    "a-",
    "a- ",
    "1-",
    "@.",
    "a@a.",
    "@a ",
    " ",
    "\n",
    "((((",
    "(1",
    "[](",
    "[",
    "![",
    "[a](b)",
    "](",
    "<",
    "<a ",
    "<a>",
    "https://a.vn|",
    "https://a.vn ",
    "a.vn,",
    "1",
    "1 ",
    "123 ",
    "0912345678 ",
    "{n} ",
    "10{n}, ",
    "AB-10{n} ",
    "e\u{301}",
    "\u{301}",
    "\u{200b}",
    "q1",
    "**",
    "~",
    "`",
    "> ",
    "- a\n",
    "torn ",
    "not torn or ",
    "một trăm ",
    "hoàn tiền, đơn hàng của em bị vỡ ",
    "can you speak English please ",
    "a . ",
    "evil dot ",
    "evil (dot) ",
];

/// What is measured: its name, the longer length, and the work.
type Parser<'p> = (&'p str, usize, &'p dyn Fn(&str));

fn text(piece: &str, length: usize) -> String {
    let mut text = String::with_capacity(length + piece.len());
    for n in 10_000.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&piece.replace("{n}", &n.to_string()));
    }
    text
}

fn cost(work: &dyn Fn(&str), text: &str) -> Duration {
    let start = ThreadTime::now();
    work(text);
    start.elapsed()
}

#[test]
fn doubling_a_text_never_triples_its_cost() {
    let prompts = Prompts::shipped();
    let returns = ReturnsRules::read(&prompts).unwrap();
    let retail = RetailRules::read(&prompts).unwrap();
    let telecom = TelecomRules::read(&prompts).unwrap();
    let commerce = commerce::parser(&prompts);
    let picks = PickRules::read(&prompts).unwrap();
    let instalments = Instalments::read(&prompts).unwrap();
    let decisions = decision_parser(&prompts);
    let language = LanguageRules::read(&prompts).unwrap();
    let lexicon = Lexicon::read(&prompts).unwrap();
    let search = SearchRules::read(&prompts).unwrap();
    let index = LexicalIndex::load("knowledge".as_ref(), &search).unwrap();
    let vocabulary: Vocabulary = crate::retrieval::search::vocabulary(index.chunks());
    let grounding = grounding();
    let languages = [Language::VI, Language::EN];
    let header = Field::NEEDED.iter().map(|field| field.as_str()).collect::<Vec<_>>().join(",");
    let csv = |text: &str| drop(Table::<Field>::read(format!("{header}\n{text}").as_bytes()));
    let parsers: [Parser<'_>; 19] = [
        ("numbers and contacts", MESSAGE, &|text| drop(returns.find(text))),
        ("serials", MESSAGE, &|text| drop(find_candidates(text))),
        ("damage", MESSAGE, &|text| {
            let _ = returns.damage().is_reported_in(text);
        }),
        ("facts", MESSAGE, &|text| drop(facts::read(text, &lexicon))),
        ("language", MESSAGE, &|text| {
            let _ = language.detect(text, &languages);
        }),
        ("switch of language", MESSAGE, &|text| drop(language.switch(text, &languages))),
        ("returns desk", MESSAGE, &|text| drop(returns.parse(text))),
        ("retail desk", MESSAGE, &|text| drop(retail.parse(text, &vocabulary))),
        ("telecom desk", MESSAGE, &|text| drop(telecom.parse(text))),
        ("commerce desk", MESSAGE, &commerce),
        ("choice of goods", MESSAGE, &|text| drop(picks.pick(text))),
        ("instalments", MESSAGE, &|text| drop(instalments.plans(text, std::iter::once(text), 10_000_000))),
        ("words of decisions", MESSAGE, &decisions),
        ("search text", MESSAGE, &|text| drop(retail.search_text(text, &vocabulary))),
        ("search", MESSAGE, &|text| {
            drop(index.search(&Query { text: text.to_owned(), language: Language::VI, limit: 8, pages_only: false }))
        }),
        ("markdown", MESSAGE, &|text| drop(outline(text))),
        ("reply", REPLY, &|text| drop(read_reply(&grounding, text))),
        ("agent's words", MESSAGE, &|text| drop(for_customer(text, &["create_rma"]))),
        ("CSV rows", MESSAGE, &csv),
    ];
    let mut pairs = Vec::new();
    for (name, length, parser) in parsers {
        for piece in PIECES {
            pairs.push((name, piece, parser, [text(piece, length / 2), text(piece, length)], Vec::new()));
        }
    }
    for _ in 0..ATTEMPTS {
        pairs.retain_mut(|(_, _, parser, [short, long], ratios)| {
            let (less, more) = (cost(parser, short), cost(parser, long));
            ratios.push(if more > NOTHING { more.as_secs_f64() / less.as_secs_f64() } else { 0.0 });
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2] > MOST
        });
        if pairs.is_empty() {
            return;
        }
        thread::sleep(PAUSE);
    }
    let slow = pairs.iter().map(|(name, piece, .., ratios)| format!("{name} over {piece:?}: {ratios:.1?}"));
    panic!("{}", slow.collect::<Vec<_>>().join("\n"));
}

#[test]
fn shop_with_one_language_needs_no_other() {
    for code in ["en", "vi"] {
        let prompts = Prompts::shipped().with_only_language(code);
        ReturnsRules::read(&prompts).expect("rules of the returns desk");
        RetailRules::read(&prompts).expect("rules of the retail desk");
        TelecomRules::read(&prompts).expect("rules of the telecom desk");
        LanguageRules::read(&prompts).expect("rules of languages");
        Lexicon::read(&prompts).expect("words around numbers");
        ClaimRules::read(&prompts).expect("rules of claims");
        SearchRules::read(&prompts).expect("rules of the search");
    }
}

//! Replies over the sample shop's own documents: faithful ones, and ones that invent.

use std::path::Path;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    /// Files below `knowledge/`; `products.csv#SKU` is a row.
    from: Vec<String>,
    customer: String,
    reply: String,
    /// What must not be seen.
    #[serde(default)]
    invents: Vec<String>,
}

impl Case {
    fn all(name: &str) -> Vec<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn pieces(&self, grounding: &Grounding) -> Vec<Piece> {
        let persona = file("prompts/system_persona_vi.md");
        let passages: Vec<String> = self.from.iter().map(|from| passage(from)).collect();
        let mut sources = Sources {
            shop: vec![&persona],
            customer: vec![&self.customer],
            instructions: vec![&persona],
            claims: Facts::OF_DOCUMENTS,
            ..Sources::default()
        };
        sources.shop.extend(passages.iter().map(String::as_str));
        let mut speech = Grounded::new(grounding, &PLACEHOLDERS, &sources);
        let mut pieces = speech.push(&self.reply);
        pieces.extend(speech.finish());
        pieces
    }
}

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn passage(from: &str) -> String {
    let Some((name, sku)) = from.split_once('#') else {
        let page = file(&format!("knowledge/{from}"));
        let body = page.splitn(3, "---\n").nth(2).unwrap();
        // Comments hold the questions that a section answers, with figures that it does not say.
        return body.split("<!--").map(|part| part.split_once("-->").map_or(part, |(_, shown)| shown)).collect();
    };
    let table = file(&format!("knowledge/{name}"));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let row = reader.records().map(Result::unwrap).find(|row| &row[0] == sku).unwrap_or_else(|| panic!("{from}"));
    format!(
        "{} — {}\nGiá: {} đ; Còn: {}; Mã: {}; Bảo hành: {} tháng; {}",
        &row[1], &row[2], &row[4], &row[6], &row[0], &row[7], &row[5]
    )
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None }).collect()
}

fn invented(name: &str) -> (usize, Vec<String>) {
    let grounding = grounding();
    let cases = Case::all(name);
    let passes = cases.iter().filter_map(|case| {
        let pieces = case.pieces(&grounding);
        let shown = text(&pieces);
        let left: Vec<&String> = case.invents.iter().filter(|part| shown.contains(part.as_str())).collect();
        let guarded = pieces.iter().any(|piece| matches!(piece, Piece::Guard(_)));
        (!left.is_empty() || !guarded || case.invents.is_empty()).then(|| format!("{:?} → {shown:?}", case.reply))
    });
    (cases.len(), passes.collect())
}

fn faithful(name: &str) -> (usize, Vec<String>) {
    let grounding = grounding();
    let cases = Case::all(name);
    let blocked = cases.iter().filter_map(|case| {
        let shown = text(&case.pieces(&grounding));
        (shown != case.reply).then(|| format!("{:?} → {shown:?}", case.reply))
    });
    (cases.len(), blocked.collect())
}

#[test]
fn every_invented_fact_is_stopped() {
    let (count, passes) = invented("facts_invented.jsonl");
    assert!(count >= 100 && passes.is_empty(), "{} of {count}:\n{}", passes.len(), passes.join("\n"));
}

#[test]
fn of_a_hundred_faithful_replies_none_is_blocked() {
    let (count, blocked) = faithful("facts_faithful.jsonl");
    assert!(count >= 100 && blocked.is_empty(), "{} of {count}:\n{}", blocked.len(), blocked.join("\n"));
}

#[test]
fn blind_replies_score_like_the_known_ones() {
    let (invented_count, passes) = invented("facts_invented_blind.jsonl");
    let (faithful_count, blocked) = faithful("facts_faithful_blind.jsonl");
    assert!(invented_count >= 30 && faithful_count >= 30);
    let told = || {
        format!("{} pass:\n{}\n{} are blocked:\n{}", passes.len(), passes.join("\n"), blocked.len(), blocked.join("\n"))
    };
    assert!(passes.is_empty() && blocked.is_empty(), "{}", told());
}

//! `cargo bench`: the pure parts of a turn that every message, or every piece of a reply, goes through.
#![allow(clippy::expect_used, reason = "without the sample shop there is nothing to measure")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use frontdesk::desks::retail::rules::RetailRules;
use frontdesk::domain::serial::find_serials;
use frontdesk::domain::{Event, MessageId, Vocabulary};
use frontdesk::grounding::{Canary, Grounded, Grounding, GroundingRules, Placeholders, Sources};
use frontdesk::http::sse_frame;
use frontdesk::persona::Prompts;
use frontdesk::retrieval::fusion::{RANK_CONSTANT, Ranking, reciprocal_rank};

const QUESTION: &str = "mình cần mua laptop học đại học tầm 15 triệu, pin tốt một chút, shop tư vấn giúp";
const SHOP: &str = "Laptop MSI Modern 14 giá 11.990.000đ, bảo hành 24 tháng, còn 6 máy. Tổng đài 1900 636 979.";
const REPLY: &str = "Dạ mẫu MSI Modern 14 giá 11.990.000đ, bảo hành 24 tháng, hiện còn 6 máy ạ. ";
const PLACEHOLDERS: Placeholders<'_> =
    Placeholders { number: "(…)", link: "(…)", rest: "…", human: "(…)", claim: "(…)" };

fn prompts() -> Prompts {
    Prompts::load("prompts".as_ref(), "prompts/system_persona_vi.md".as_ref()).expect("the sample prompts")
}

fn understanding(criterion: &mut Criterion) {
    let rules = RetailRules::read(&prompts()).expect("the sample rules");
    let vocabulary = Vocabulary::default();
    let long: String = QUESTION.chars().cycle().take(4000).collect();
    let mut group = criterion.benchmark_group("understanding");
    for (name, text) in [("a message", QUESTION), ("4,000 characters", &long)] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("classification of {name}"), |bench| {
            bench.iter(|| rules.parse(black_box(text), &vocabulary));
        });
        group.bench_function(format!("serial numbers of {name}"), |bench| {
            bench.iter(|| find_serials(black_box(text)).len());
        });
    }
    group.finish();
}

fn grounding(criterion: &mut Criterion) {
    let rules = GroundingRules::read(&prompts()).expect("the sample rules");
    let grounding = Grounding::new(rules, Vec::new(), Canary::new(*b"0123456789abcdef"));
    let sources = Sources { shop: vec![SHOP], ..Sources::default() };
    let mut group = criterion.benchmark_group("reply");
    group.throughput(Throughput::Bytes(REPLY.len() as u64));
    group.bench_function("fact lock, piece by piece", |bench| {
        bench.iter(|| {
            let mut reply = Grounded::new(&grounding, &PLACEHOLDERS, &sources);
            let pieces: usize = REPLY.split_inclusive(' ').map(|piece| reply.push(black_box(piece)).len()).sum();
            pieces + reply.finish().len()
        });
    });
    let event = Event::Delta { message_id: MessageId::now(), text: "bảo hành 24 tháng ".to_owned() };
    group.bench_function("an event as a frame", |bench| {
        bench.iter(|| {
            sse_frame("3.17".parse().expect("an id"), &serde_json::to_string(black_box(&event)).expect("JSON"))
        });
    });
    group.finish();
}

fn fusion(criterion: &mut Criterion) {
    let by_words: Vec<u32> = (0..24).collect();
    let by_meaning: Vec<u32> = (12..36).rev().collect();
    let lists = [Ranking { items: &by_words, weight: 2.0 }, Ranking { items: &by_meaning, weight: 1.0 }];
    criterion.bench_function("rank fusion of two lists of 24", |bench| {
        bench.iter(|| reciprocal_rank(black_box(&lists), RANK_CONSTANT));
    });
}

criterion_group!(benches, understanding, grounding, fusion);
criterion_main!(benches);

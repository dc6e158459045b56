//! Lists, links and languages of whole conversations.

use std::path::Path;

use frontdesk::domain::Language;
use frontdesk::domain::commerce::catalog::CatalogItem;
use frontdesk::nlu::language::LanguageRules;
use frontdesk::persona::Prompts;
use frontdesk::store::samples::SampleTenant;
use serde_json::json;

use super::*;
use crate::desks::retail::chat::Chat;

const KEY: &str = "0123456789abcdef-big";

/// A shop with 60 shoes, 20 boots and 2 mats, that speaks Swahili first.
fn big_shop() -> SampleTenant {
    let sample = shops(Utc::now()).unwrap().remove(0);
    let kinds = [("Town shoes", "Shoes", 60), ("Farm boots", "Boots", 20), ("Kikoi mat", "Mats", 2)];
    let items = kinds.into_iter().flat_map(|(name, category, count)| (0..count).map(move |at| (name, category, at)));
    let item = |(name, category, at): (&str, &str, usize)| CatalogItem {
        id: format!("{category}-{at}").parse().unwrap(),
        name: format!("{name} {}", ["plain", "fancy", "wide"][at % 3]),
        category: category.to_owned(),
        variants: [("size".to_owned(), vec!["40".to_owned(), "41".to_owned()])].into(),
        attributes: [].into(),
        description: String::new(),
        ..sample.items[at % sample.items.len()].clone()
    };
    let mut shop = SampleTenant { id: "big".parse().unwrap(), items: items.map(item).collect(), ..sample.clone() };
    shop.settings.catalog_link_base = Some("https://big.example/shop".parse().unwrap());
    shop
}

async fn open_big_desk() -> Shop {
    let desk = open_desk_with(TestApp::builder().env("X_API_KEYS", format!("big:{KEY}"))).await;
    let made = desk.app.inner.store.make_sample_tenants(&[big_shop()]).await.unwrap();
    assert_eq!(made, SampledTenants::Done);
    desk
}

/// Searches with the number of their matches, whether they are vague, and what their link asks for.
const SEARCHES: [(&str, usize, bool, &str); 5] = [
    ("I am looking for shoes", 60, true, "q=shoes"),
    ("I am looking for boots", 20, true, "q=boots"),
    ("I am looking for mats", 2, true, "q=mats"),
    ("I am looking for boots below 90000", 20, false, "max_price=90000"),
    ("see all", 82, false, ""),
];

// Feature: tulia-ai-v2-langgraph-refactor, Property 6: Product Discovery Constraints
// Feature: tulia-ai-v2-langgraph-refactor, Property 15: Catalog Fallback Behavior
#[tokio::test]
async fn lists_are_short_and_failures_link() {
    let desk = open_big_desk().await;
    let step = prop_oneof![prop::sample::select(&SEARCHES[..]).prop_map(Some), Just(None)];
    let mut cases = Cases::new(prop::collection::vec(step, 1..6));
    let (mut linked, mut unlinked) = (0, 0);
    for case in 0..CASES {
        let steps = cases.next();
        let mut chat = desk.chat_as(KEY, json!({ "user_id": phone(case), "persona": "commerce_en" })).await;
        let (mut rejections, mut shown) = (0, None);
        for step in &steps {
            // `None` rejects the list.
            let Some((text, matches, vague, query)) = step.or(shown) else { continue };
            let text = if step.is_none() { "not these" } else { text };
            let said = say_all(&mut chat, &[text]).await;
            let numbered =
                said.lines().filter(|line| line.split_once(". ").is_some_and(|(at, _)| at.parse::<u8>().is_ok()));
            let expected = match step {
                Some(_) => {
                    let listed = numbered.count();
                    assert!((matches.min(3)..=6).contains(&listed), "{steps:?}, {text}: {said}");
                    shown = *step;
                    text == "see all" || (matches >= 50 && vague) || rejections >= 2
                }
                None => {
                    assert_eq!(numbered.count(), 0, "{steps:?}: {said}");
                    (rejections, shown) = (rejections + 1, None);
                    rejections >= 2
                }
            };
            let link = said.split_whitespace().find(|word| word.contains("https://big.example/shop"));
            assert_eq!(link.is_some(), expected, "{steps:?}, {text}: {said}");
            assert!(link.is_none_or(|link| link.contains(query)), "{steps:?}, {text}: {link:?}");
            if expected { linked += 1 } else { unlinked += 1 }
        }
    }
    assert!(linked > 50 && unlinked > 50, "{linked}, {unlinked}");
}

/// Words of English, Swahili and of no language.
const WORDS: [&str; 16] = [
    "please", "want", "how", "much", "the", "delivery", "nataka", "viatu", "bei", "gani", "leo", "sana", "40", "Bata",
    "canvas", "zzqx",
];

async fn language_of(desk: &Shop, chat: &Chat<'_>) -> String {
    let tenant: TenantId = "big".parse().unwrap();
    let stored = desk.app.inner.store.tenant(&tenant).find_conversation(chat.id.parse().unwrap()).await.unwrap();
    stored.unwrap().language.code().to_owned()
}

// Feature: tulia-ai-v2-langgraph-refactor, Property 8: Language Policy Compliance
#[tokio::test]
async fn unsure_language_keeps_the_spoken_one() {
    let prompts = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
    let rules = LanguageRules::read(&Prompts::load(&prompts, &prompts.join("commerce_en.md")).unwrap()).unwrap();
    let allowed: Vec<Language> = ["en", "sw", "sheng"].map(|code| code.parse().unwrap()).into();
    let desk = open_big_desk().await;
    let message = prop::collection::vec(prop::sample::select(&WORDS[..]), 1..5);
    let mut cases = Cases::new(prop::collection::vec(message, 1..5));
    let mut unsure = 0;
    for case in 0..CASES {
        let mut chat = desk.chat_as(KEY, json!({ "user_id": phone(case), "persona": "commerce_en" })).await;
        // Swahili is spoken from here on.
        chat.say("habari ya asubuhi, nataka kununua viatu vya shule tafadhali").await;
        assert_eq!(language_of(&desk, &chat).await, "sw");
        for words in cases.next() {
            let text = words.join(" ");
            let verdict = rules.judge(&text, &allowed).filter(|(language, _)| language.code() != "sw");
            chat.say(&text).await;
            if verdict.is_some_and(|(_, confidence)| confidence >= 0.75) {
                break;
            }
            unsure += usize::from(verdict.is_some());
            assert_eq!(language_of(&desk, &chat).await, "sw", "{text}: {verdict:?}");
        }
    }
    assert!(unsure > 40, "{unsure}");
}

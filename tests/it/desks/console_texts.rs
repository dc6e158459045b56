//! The console's names for what desks report.

use std::collections::BTreeSet;

use frontdesk::app::list_file::FileCode;
use frontdesk::desks::{DeskRegistry, retail, returns, telecom};
use frontdesk::domain::ConsoleDeed;
use frontdesk::domain::commerce::consent::ConsentActor;
use frontdesk::domain::commerce::payment::PaymentStatus;
use frontdesk::domain::commerce::tenant::PaymentMethod;
use frontdesk::domain::commerce::{OrderStatus, policy};
use frontdesk::domain::returns::{ReasonCode, RmaStatus};
use frontdesk::domain::warranty::RowCode;
use frontdesk::persona::PersonaFault;
use frontdesk::persona::texts::PageTexts;
use regex::Regex;

use crate::architecture::literals_of;

const FILES: [&str; 2] =
    [include_str!("../../../prompts/texts/console.en.toml"), include_str!("../../../prompts/texts/console.vi.toml")];

fn assert_named(table: &str, names: &[&str]) {
    for file in FILES {
        let texts: PageTexts = toml::from_str(file).unwrap();
        let title = texts.text("title");
        let missing: Vec<_> =
            names.iter().map(|name| format!("{table}.{name}")).filter(|key| texts.text(key).is_empty()).collect();
        assert!(missing.is_empty(), "{title}: {missing:?}");
    }
}

#[test]
fn every_desks_message_kinds_have_names() {
    let registry = DeskRegistry::built_in();
    let kinds: Vec<_> = registry.iter().flat_map(|desk| desk.message_kinds()).map(|kind| kind.as_str()).collect();
    assert!(kinds.len() > 15, "{kinds:?}");
    assert_named("kind", &kinds);
}

#[test]
fn every_desks_intents_have_names() {
    let mut intents: Vec<_> = retail::intent::Intent::ALL.iter().map(|intent| intent.as_str()).collect();
    intents.extend(returns::state::Intent::ALL.iter().map(|intent| intent.as_str()));
    intents.extend(telecom::route::Category::ALL.iter().map(|category| category.as_str()));
    intents.extend(policy::Intent::ALL.iter().map(|intent| intent.as_str()));
    assert_named("intent", &intents);
}

#[test]
fn codes_and_deeds_have_names() {
    assert_named("reason_code", &ReasonCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    assert_named("rma_status", &RmaStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>());
    assert_named("order_status", &OrderStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>());
    assert_named("payment_status", &PaymentStatus::ALL.iter().map(|status| status.as_str()).collect::<Vec<_>>());
    assert_named("payment_method", &PaymentMethod::ALL.iter().map(|method| method.as_str()).collect::<Vec<_>>());
    assert_named("consent_by", &ConsentActor::ALL.iter().map(|actor| actor.as_str()).collect::<Vec<_>>());
    assert_named("audit_what", &ConsoleDeed::ALL.iter().map(|deed| deed.as_str()).collect::<Vec<_>>());
}

#[test]
fn problems_of_files_have_words() {
    assert_named("warranty_problem", &RowCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    assert_named("file_problem", &FileCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>());
    assert_named("persona_problem", &PersonaFault::ALL.iter().map(|fault| fault.as_str()).collect::<Vec<_>>());
}

#[test]
fn acts_on_returns_have_names() {
    let act = Regex::new(r#"^"((?:order|eligibility|rma|label|ticket|cancel|customer|flow)\.[a-z_]+)"$"#).unwrap();
    let literals = [literals_of("src/store/"), literals_of("src/desks/returns")].concat();
    let found = literals.iter().filter_map(|literal| act.captures(literal));
    let mut acts: BTreeSet<String> = found.map(|found| found[1].replace('.', "_")).collect();
    // The entry of an erased customer stands outside a conversation.
    acts.remove("customer_erased");
    assert!(acts.len() > 15, "{acts:?}");
    assert_named("record_what", &acts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn sentences_of_an_escalation_have_names() {
    let not_letters = Regex::new("[^a-z]+").unwrap();
    let files = ["src/desks/returns/handlers/handoff.rs", "src/desks/commerce/effect.rs"];
    let literals = files.map(literals_of).concat();
    let is_sentence = |text: &&String| {
        text[1..].starts_with(|c: char| c.is_ascii_lowercase()) && text.contains(' ') && !text.contains('{')
    };
    // "None named" and "none open" stand for an order.
    let sentences = literals.iter().filter(is_sentence).filter(|text| !text.starts_with("\"none "));
    let keys: Vec<_> =
        sentences.map(|text| not_letters.replace_all(text.trim_matches('"'), "_").into_owned()).collect();
    assert!(keys.len() > 25, "{keys:?}");
    for file in FILES {
        let texts: PageTexts = toml::from_str(file).unwrap();
        let is_named = |key: &String| {
            ["escalation_reason", "escalation_next"]
                .iter()
                .any(|table| !texts.text(&format!("{table}.{key}")).is_empty())
        };
        let missing: Vec<_> = keys.iter().filter(|key| !is_named(key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

//! The console's names for what desks report.

use frontdesk::desks::{DeskRegistry, retail, returns, telecom};
use frontdesk::domain::commerce::policy;
use frontdesk::persona::texts::ConsoleTexts;

const FILES: [&str; 2] =
    [include_str!("../../../prompts/texts/console.en.toml"), include_str!("../../../prompts/texts/console.vi.toml")];

fn assert_named(table: &str, names: &[&str]) {
    for file in FILES {
        let texts: ConsoleTexts = toml::from_str(file).unwrap();
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

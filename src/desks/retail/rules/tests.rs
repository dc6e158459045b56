use std::collections::BTreeMap;

use super::*;

fn rules() -> RetailRules {
    RetailRules::from_toml(include_str!("../../../../prompts/rules/retail.toml")).expect("the shipped rules")
}

/// What the desk would do with the verdict: an unsure one is as good as none.
fn acted_on(verdict: &Verdict) -> Intent {
    if verdict.confidence < SURE { Intent::Unknown } else { verdict.intent }
}

/// Every third line was never looked at while the keywords were chosen: it measures messages nobody foresaw.
#[test]
fn the_rules_alone_understand_93_messages_of_100() {
    let rules = rules();
    let intents = [Intent::Shopping, Intent::Warranty, Intent::Unknown];
    let mut table = BTreeMap::new();
    let (mut right, mut all, mut topics_right, mut topics) = ([0; 2], [0; 2], 0, 0);
    let show_held_out = std::env::var("SHOW_HELD_OUT").is_ok();
    for (index, line) in include_str!("../../../../tests/data/intents.tsv").lines().skip(1).enumerate() {
        let [text, intent, topic] = line.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let wanted: Intent = serde_json::from_value(intent.into()).expect("an intent");
        let verdict = rules.classify(text, &Context::default());
        let got = acted_on(&verdict);
        let held_out = usize::from(index % 3 == 0);
        all[held_out] += 1;
        right[held_out] += usize::from(got == wanted);
        let place = |intent| intents.iter().position(|known| *known == intent);
        *table.entry((place(wanted), place(got))).or_insert(0) += 1;
        let topic = Some(topic).filter(|topic| *topic != "-");
        topics += usize::from(topic.is_some());
        topics_right += usize::from(topic.is_some() && topic == verdict.social.as_deref());
        let wrong = got != wanted || topic != verdict.social.as_deref();
        if wrong && (held_out == 0 || show_held_out) {
            eprintln!(
                "{text:?}: wanted {intent} {topic:?}, got {got:?} {:.2} {:?} {:?}",
                verdict.confidence, verdict.social, verdict.matched
            );
        }
    }
    eprintln!("\nwanted \\ got   shopping  warranty   unknown");
    for (row, intent) in intents.iter().enumerate() {
        let cells = (0..3).map(|column| table.get(&(Some(row), Some(column))).copied().unwrap_or(0));
        eprintln!("{:<12}{}", format!("{intent:?}"), cells.map(|n: usize| format!("{n:>10}")).collect::<String>());
    }
    let share = |right: usize, all: usize| 100.0 * right as f64 / all as f64;
    let total = share(right[0] + right[1], all[0] + all[1]);
    eprintln!("seen {:.1} %, held out {:.1} %, all {total:.1} %", share(right[0], all[0]), share(right[1], all[1]));
    eprintln!("social topics {topics_right} of {topics}\n");
    assert!(total >= 93.0, "only {total:.1} % of the messages are understood");
}

use std::sync::LazyLock;

use super::*;

/// The words of the shop.
pub fn shop_words() -> DamageWords {
    #[derive(Deserialize)]
    struct Orders {
        damage: DamageWords,
    }
    static WORDS: LazyLock<DamageWords> =
        LazyLock::new(|| crate::persona::Prompts::shipped().rules(&["orders"], Ok::<Orders, String>).unwrap().damage);
    WORDS.clone()
}

/// `tests/data/damage.tsv`: sentences of customers, each with whether it reports damage, denies it, supposes it, or is about something else.
#[test]
fn damage_is_reported_unless_denied_or_supposed() {
    let words = shop_words();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("../../../../tests/data/damage.tsv").lines().skip(1) {
        let (text, wanted) = line.split_once('\t').expect("two columns");
        count += 1;
        if words.is_reported_in(text) != (wanted == "told") {
            wrong.push(format!("{text:?}: wanted {wanted}"));
        }
    }
    assert!(count >= 120, "{count} sentences");
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn negation_ends_with_its_clause() {
    let words = shop_words();
    for text in [
        "không\nbị vỡ",
        "không - bị vỡ",
        "No, damaged.",
        "is that all you have to say, no? broken",
        "it does not, work",
    ] {
        assert!(words.is_reported_in(text), "{text:?}");
    }
    // Decomposed letters and curly apostrophes are what keyboards send.
    for text in ["sa\u{309}n pha\u{302}\u{309}m bi\u{323} ho\u{309}ng", "it doesn\u{2019}t work"] {
        assert!(words.is_reported_in(text), "{text:?}");
    }
    assert!(!words.is_reported_in("it isn\u{2019}t broken"));
}

#[test]
fn words_and_negations_alone_are_enough() {
    let words = DamageWords::new(&["shatter*"], &["not"]).expect("valid patterns");
    assert!(words.is_reported_in("it is shattered"));
    assert!(!words.is_reported_in("it is not shattered"));
    assert!(!DamageWords::default().is_reported_in("shattered"));
}

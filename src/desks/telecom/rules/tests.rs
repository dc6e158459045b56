use super::*;

#[test]
fn objection_after_a_yes_is_no_yes() {
    let rules = TelecomRules::read(&Prompts::shipped()).expect("the rules");
    for (text, equivocates) in [
        ("Yes, but the amount is wrong", true),
        ("ok, but is that the right invoice?", true),
        ("ok, the amount is too high", true),
        ("Tak, ale kwota jest zła", true),
        ("Dobrze, ale to nie ta faktura", true),
        ("dobrze, kwota jest za wysoka", true),
        ("Yes, that's correct. When will it come?", false),
        ("Tak, zgadza się. Jaki to numer sprawy?", false),
        ("ok sure, just open it already", false),
        ("sure, go ahead and file it", false),
        ("ok, thanks", false),
        ("dobra, niech będzie, zakładajcie sprawę", false),
        ("tak", false),
        ("ok", false),
    ] {
        let utterance = rules.parse(text).utterance;
        assert_eq!((utterance.affirms(), utterance.equivocates()), (true, equivocates), "{text}");
    }
}

#[test]
fn weak_yes_accepts_an_offer_only_alone() {
    let rules = TelecomRules::read(&Prompts::shipped()).expect("the rules");
    for (text, accepts) in [
        ("good", true),
        ("sounds good", true),
        ("ok do that", true),
        ("yes, my router is broken", true),
        ("good. we also have 2 days in Bulgaria", false),
        ("ok, thanks", false),
        ("dobrze", true),
        ("tak, poproszę", true),
        ("dobrze. mamy też 2 dni w Bułgarii", false),
    ] {
        assert_eq!(rules.parse(text).accepts(), accepts, "{text}");
    }
}

#[test]
fn terms_of_a_visit_call_nobody() {
    let rules = TelecomRules::read(&Prompts::shipped()).expect("the rules");
    for (text, wants_person) in [
        ("Would I have to pay if you send someone?", false),
        ("If you send someone, do I have to pay?", false),
        ("Ile to kosztuje, jeśli wyślecie technika?", false),
        ("can somebody come today?", false),
        ("a w sobote po poludniu ktos moze przyjechac?", false),
        ("Please send someone. Is that free?", true),
        ("I pay 65 PLN a month and nothing works. Can you send a technician?", true),
        ("send a technician", true),
    ] {
        assert_eq!(rules.parse(text).utterance.wants_person(), wants_person, "{text}");
    }
}

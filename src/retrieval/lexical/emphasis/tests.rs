use super::super::sections::tests::{indexes, labelled};
use super::*;

const PAGE: &str = "A technician comes from Monday to Saturday.\n- The visit is free if the fault is in our network.\n- An adult must be \
                    at home.\n- An appointment can be changed until 18:00 of the day before.";

#[test]
fn likely_sentence_is_bold() {
    let index = &indexes()["telecom"];
    let bold = |question: &str| index.emphasized(question, PAGE, Language::EN);
    assert!(bold("can I still change the appointment the day before?").contains("\n- **An appointment can be changed"));
    assert_eq!(bold("what's your favourite colour?"), PAGE);
    let short = "The visit is free. An adult must be at home.";
    assert_eq!(index.emphasized("must an adult be at home?", short, Language::EN), short);
}

/// When this was written, 166 of 216 sentences in bold had what the answer must say.
#[test]
fn bold_sentences_mostly_answer() {
    let indexes = indexes();
    let (mut right, mut all) = (0, 0);
    for turn in labelled().iter().filter(|turn| !turn.says.is_empty()).step_by(3) {
        let index = &indexes[turn.desk.as_str()];
        let Some(place) = (0..index.pieces.len()).find(|place| turn.is_answered_by(index, *place)) else { continue };
        let passage = index.pieces[place].passage(turn.query.language, 0.0);
        let bold = index.emphasized(&turn.query.text, &passage.text, turn.query.language);
        let Some(bold) = bold.split(BOLD).nth(1) else { continue };
        let has = |text: &str, says: &String| {
            says.split('|').any(|said| text.to_lowercase().contains(&said.trim().to_lowercase()))
        };
        // Some labels name a section that has the answer only together with another one.
        if turn.says.iter().any(|says| has(&passage.text, says)) {
            all += 1;
            right += usize::from(turn.says.iter().any(|says| has(bold, says)));
        }
    }
    println!("{right} of {all} sentences in bold are right");
    assert!(all > 100 && right * 100 >= all * 68, "{right} of {all}");
}

//! Written dialogues on the sample shop: `tests/data/commerce/dialogues.tsv`.

use std::path::Path;

use super::{customer, open_desk};

/// Dialogue, message, journey, kinds of the replies, and facts of the replies, separated by ` | `. A fact that begins with `!` is not
/// said. `-` expects nothing.
#[tokio::test]
async fn written_dialogues_get_their_facts() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/commerce/dialogues.tsv");
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let desk = open_desk().await;
    let (mut wrong, mut turns) = (Vec::new(), 0);
    for (number, dialogue) in lines.chunk_by(|a, b| a[0] == b[0]).enumerate() {
        let mut chat = customer(&desk, &format!("+2547111{number:05}")).await;
        for line in dialogue {
            let [id, message, journey, kinds, facts] = line[..] else { panic!("{line:?}") };
            let events = chat.say(message).await;
            turns += 1;
            let said: String = events.messages().into_iter().map(|(_, text)| text + "\n").collect();
            let is_wrong = |fact: &&str| match fact.strip_prefix('!') {
                Some(fact) => said.contains(fact),
                None => !said.contains(*fact),
            };
            let missing: Vec<&str> = facts.split(" | ").filter(|fact| *fact != "-").filter(is_wrong).collect();
            let intent =
                events.data().iter().find(|event| event["type"] == "intent").map(|event| event["route"].clone());
            let got = intent.as_ref().and_then(|route| route.as_str()).unwrap_or("none").to_owned();
            let is_journey = journey == "-" || journey == got;
            let is_kinds = kinds == "-" || kinds == events.kinds().join(",");
            if !is_journey || !is_kinds || !missing.is_empty() {
                wrong.push(format!("{id} {message:?}: {got} {:?}, wrong facts {missing:?} in {said}", events.kinds()));
            }
        }
    }
    assert!(turns > 80, "{turns}");
    assert!(wrong.is_empty(), "{} of {turns}:\n{}", wrong.len(), wrong.join("\n"));
}

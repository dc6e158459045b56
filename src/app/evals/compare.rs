//! What is different when an answer is given again.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::anew::without_what_is_made_anew;
use super::case::Answer;
use crate::domain::text::fold;
use crate::domain::{ErrorCode, Kind};

/// Something that is different, as it was and as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    Error {
        was: Option<ErrorCode>,
        is: Option<ErrorCode>,
    },
    Intent {
        was: Option<String>,
        is: Option<String>,
    },
    /// The kinds of the messages, in order.
    Kind {
        was: Vec<Kind>,
        is: Vec<Kind>,
    },
    /// Passages; their order does not count.
    Sources {
        gone: Vec<String>,
        new: Vec<String>,
    },
    Text {
        was: String,
        is: String,
    },
}

impl Difference {
    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Error { .. } => "error",
            Self::Intent { .. } => "intent",
            Self::Kind { .. } => "kind",
            Self::Sources { .. } => "sources",
            Self::Text { .. } => "text",
        }
    }
}

/// What is different; nothing where both answers are the same. An intent that is not known is no difference, nor are numbers
/// and links that a turn which began at `asked_at` makes anew each time.
pub fn compare(was: &Answer, is: &Answer, asked_at: DateTime<Utc>) -> Vec<Difference> {
    let mut differences = Vec::new();
    if was.error != is.error {
        differences.push(Difference::Error { was: was.error, is: is.error });
    }
    if was.intent.is_some() && was.intent != is.intent {
        differences.push(Difference::Intent { was: was.intent.clone(), is: is.intent.clone() });
    }
    if was.kinds() != is.kinds() {
        differences.push(Difference::Kind { was: was.kinds(), is: is.kinds() });
    }
    let (sources, sources_now) = (was.sources(), is.sources());
    if sources != sources_now {
        let owned = |source: &&str| (*source).to_owned();
        differences.push(Difference::Sources {
            gone: sources.difference(&sources_now).map(owned).collect(),
            new: sources_now.difference(&sources).map(owned).collect(),
        });
    }
    let lasting = |answer: &Answer| without_what_is_made_anew(&answer.text(), asked_at);
    if lasting(was) != lasting(is) {
        differences.push(Difference::Text { was: was.text(), is: is.text() });
    }
    differences
}

/// Whether the answer holds these words; case, diacritics and line breaks do not count.
pub fn holds(answer: &Answer, expected: &str) -> bool {
    let plain = |text: &str| fold(text).split_whitespace().collect::<Vec<_>>().join(" ");
    plain(&answer.text()).contains(&plain(expected))
}

impl Answer {
    fn kinds(&self) -> Vec<Kind> {
        self.messages.iter().map(|message| message.kind).collect()
    }

    fn sources(&self) -> BTreeSet<&str> {
        self.messages.iter().flat_map(|message| &message.sources).map(String::as_str).collect()
    }

    /// All of it.
    pub fn text(&self) -> String {
        self.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::AnswerMessage;
    use super::*;

    fn answer(intent: Option<&str>, messages: &[(Kind, &str, &[&str])]) -> Answer {
        let message = |(kind, text, sources): &(Kind, &str, &[&str])| AnswerMessage {
            kind: *kind,
            text: (*text).to_owned(),
            sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        };
        Answer { intent: intent.map(str::to_owned), messages: messages.iter().map(message).collect(), error: None }
    }

    #[test]
    fn every_difference_is_named_and_the_order_of_sources_is_none() {
        let was = answer(Some("shopping"), &[(Kind::Reply, "Có.", &["a.md", "b.md > Phí"])]);
        let compare = |was: &Answer, is: &Answer| compare(was, is, DateTime::UNIX_EPOCH);
        let names = |is: &Answer| compare(&was, is).iter().map(Difference::name).collect::<Vec<_>>();
        assert_eq!(names(&was), [""; 0]);
        assert_eq!(names(&answer(Some("shopping"), &[(Kind::Reply, "Có.", &["b.md > Phí", "a.md"])])), [""; 0]);
        assert_eq!(
            names(&answer(Some("unknown"), &[(Kind::Clarify, "Gì ạ?", &[])])),
            ["intent", "kind", "sources", "text"]
        );
        assert_eq!(
            compare(&was, &answer(Some("shopping"), &[(Kind::Reply, "Có.", &["a.md", "c.md"])])),
            [Difference::Sources { gone: vec!["b.md > Phí".to_owned()], new: vec!["c.md".to_owned()] }]
        );
        let broken = Answer { error: Some(ErrorCode::Model), ..was.clone() };
        assert_eq!(names(&broken), ["error"]);
        let unknown = Answer { intent: None, ..was.clone() };
        assert_eq!((compare(&unknown, &was), names(&unknown)), (vec![], vec!["intent"]));
    }

    #[test]
    fn what_is_made_anew_is_no_difference_and_is_shown_with_what_is_one() {
        let told = |text: &str| answer(None, &[(Kind::desk("return_ticket"), text, &[])]);
        let was = told("RMA-1701234567-ABCD is made.");
        assert_eq!(compare(&was, &told("RMA-1801234567-WXYZ is made."), DateTime::UNIX_EPOCH), []);
        let is = told("RMA-1801234567-WXYZ was made.");
        let changed = Difference::Text { was: was.text(), is: is.text() };
        assert_eq!(compare(&was, &is, DateTime::UNIX_EPOCH), [changed]);
    }

    #[test]
    fn words_are_found_whatever_their_case_marks_and_breaks() {
        let said = answer(None, &[(Kind::Reply, "Phí giao\nlà 30.000đ.", &[]), (Kind::FollowUp, "Gì nữa ạ?", &[])]);
        assert!(holds(&said, "PHI  GIAO là 30.000đ"));
        assert!(holds(&said, "gì nữa"));
        assert!(!holds(&said, "35.000"));
    }
}

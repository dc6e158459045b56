//! What the language model is let do: decided here, done elsewhere.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tools::{self, Call, Mistake};
use crate::providers::llm::{Reply, ToolCall};

/// The same call with the same arguments so often is going round in circles.
const REPEATS: u32 = 3;
/// A tool that is not there is named once by mistake.
const UNKNOWN_TOOLS: u32 = 2;
/// Arguments that do not fit are mended once or twice.
const BROKEN_ARGUMENTS: u32 = 3;
/// More calls than that in one reply are no plan.
const CALLS_AT_ONCE: usize = 8;

/// Why the model is not asked any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Loop,
    UnknownTool,
    BrokenArguments,
    TooManyCalls,
    /// It still wanted tools when it had none left to call.
    TooManyRounds,
    /// It failed, or took too long, after something was done.
    Failed,
}

impl Why {
    /// For the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "the model made the same call again and again",
            Self::UnknownTool => "the model called tools that are not there",
            Self::BrokenArguments => "the model called tools with arguments that do not fit",
            Self::TooManyCalls => "the model called too many tools at once",
            Self::TooManyRounds => "the model did not come to an answer",
            Self::Failed => "the model failed in the middle",
        }
    }
}

/// What comes next.
pub(super) enum Next {
    /// These calls, in order; the model's reply stands before their results.
    Call(Reply, Vec<Planned>),
    /// This is the model's last word. It may be empty.
    Say(String),
    GiveUp(Why),
    /// Nothing was done, so the turn is as if there were no model.
    WithoutModel,
}

/// A call as it will be made, or what the model is told instead.
pub(super) struct Planned {
    pub name: String,
    pub call: Result<Box<dyn Call>, Mistake>,
}

/// The rounds of one turn.
#[derive(Debug)]
pub(super) struct Rounds {
    most: u32,
    asked: u32,
    made: BTreeMap<(String, String), u32>,
    unknown: u32,
    broken: u32,
    acted: bool,
}

impl Rounds {
    pub fn new(most: u32) -> Self {
        Self { most, asked: 0, made: BTreeMap::new(), unknown: 0, broken: 0, acted: false }
    }

    /// How often the model has answered.
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// Whether it may call tools when it is asked next.
    pub fn offers_tools(&self) -> bool {
        self.asked + 1 < self.most
    }

    /// A tool has changed something.
    pub fn acted(&mut self) {
        self.acted = true;
    }

    /// What to do with the model's reply; `None`: it failed.
    pub fn next(&mut self, reply: Option<Reply>) -> Next {
        let offered = self.offers_tools();
        self.asked += 1;
        let Some(reply) = reply else {
            return if self.acted { Next::GiveUp(Why::Failed) } else { Next::WithoutModel };
        };
        if reply.calls.is_empty() {
            return Next::Say(reply.text);
        }
        if !offered {
            let is_blank = reply.text.trim().is_empty();
            return if is_blank { Next::GiveUp(Why::TooManyRounds) } else { Next::Say(reply.text) };
        }
        if reply.calls.len() > CALLS_AT_ONCE {
            return Next::GiveUp(Why::TooManyCalls);
        }
        match reply.calls.iter().map(|call| self.plan(call)).collect() {
            Ok(planned) => Next::Call(reply, planned),
            Err(why) => Next::GiveUp(why),
        }
    }

    fn plan(&mut self, call: &ToolCall) -> Result<Planned, Why> {
        let times = self.made.entry((call.name.clone(), canonical(&call.arguments))).or_default();
        *times += 1;
        if *times >= REPEATS {
            return Err(Why::Loop);
        }
        let parsed = tools::parse(&call.name, &call.arguments);
        match &parsed {
            Ok(_) => {}
            Err(Mistake::UnknownTool) => {
                self.unknown += 1;
                if self.unknown >= UNKNOWN_TOOLS {
                    return Err(Why::UnknownTool);
                }
            }
            Err(Mistake::Arguments(_)) => {
                self.broken += 1;
                if self.broken >= BROKEN_ARGUMENTS {
                    return Err(Why::BrokenArguments);
                }
            }
        }
        Ok(Planned { name: call.name.clone(), call: parsed })
    }
}

/// The arguments as a text that does not depend on the order of their names.
fn canonical(arguments: &Value) -> String {
    match arguments {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, String> =
                fields.iter().map(|(name, value)| (name, canonical(value))).collect();
            format!("{sorted:?}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall { name: name.to_owned(), arguments }
    }

    fn calls(calls: Vec<ToolCall>) -> Option<Reply> {
        Some(Reply { text: String::new(), calls })
    }

    fn look(number: &str) -> Option<Reply> {
        calls(vec![call("get_order_details", json!({"order_id": number}))])
    }

    fn invented() -> Option<Reply> {
        calls(vec![call("refund_now", json!({"amount": 1}))])
    }

    fn broken(n: u32) -> Option<Reply> {
        calls(vec![call("get_order_details", json!({"order": n}))])
    }

    fn said(text: &str) -> Option<Reply> {
        Some(Reply { text: text.to_owned(), calls: vec![] })
    }

    fn name(next: Next) -> String {
        match next {
            Next::Call(_, planned) => {
                let names = planned.iter().map(|planned| match &planned.call {
                    Ok(_) => "call",
                    Err(Mistake::UnknownTool) => "unknown",
                    Err(Mistake::Arguments(_)) => "broken",
                });
                names.collect::<Vec<_>>().join("+")
            }
            Next::Say(text) => format!("say {text:?}"),
            Next::GiveUp(why) => format!("give up: {why:?}"),
            Next::WithoutModel => "without".to_owned(),
        }
    }

    /// What the last of these replies leads to.
    fn last(replies: Vec<Option<Reply>>) -> String {
        let mut rounds = Rounds::new(15);
        replies.into_iter().map(|reply| name(rounds.next(reply))).last().unwrap()
    }

    #[test]
    fn each_way_a_model_can_go_has_its_end() {
        let too_many: Vec<ToolCall> =
            (0..9).map(|n| call("get_order_details", json!({"order_id": format!("7789{n}")}))).collect();
        let two = vec![call("get_order_details", json!({"order_id": "77893"})), call("nothing", json!({}))];
        let unordered = |first: &str| {
            let mut fields = serde_json::Map::new();
            for name in if first == "a" { ["a", "b"] } else { ["b", "a"] } {
                fields.insert(name.to_owned(), json!(1));
            }
            calls(vec![call("get_order_details", Value::Object(fields))])
        };
        for (replies, expected) in [
            (vec![said("Hello")], "say \"Hello\""),
            (vec![said("")], "say \"\""),
            (vec![None], "without"),
            (vec![look("77893"), None], "without"),
            (vec![look("77893"), said("Here")], "say \"Here\""),
            (vec![look("77893"), look("77894"), look("77893")], "call"),
            (vec![look("77893"), look("77894"), look("77893"), look("77893")], "give up: Loop"),
            (vec![calls(two)], "call+unknown"),
            (vec![calls(too_many)], "give up: TooManyCalls"),
            (vec![invented()], "unknown"),
            (vec![invented(), look("77893"), calls(vec![call("x", json!({}))])], "give up: UnknownTool"),
            (vec![broken(1), broken(2)], "broken"),
            (vec![broken(1), look("77893"), broken(2), broken(3)], "give up: BrokenArguments"),
            (vec![unordered("a"), unordered("b")], "broken"),
            (vec![calls(vec![call("", Value::Null)])], "unknown"),
            (vec![calls(vec![call("create_rma", json!("77893"))])], "broken"),
        ] {
            assert_eq!(last(replies), expected);
        }
    }

    #[test]
    fn what_fails_after_something_was_done_is_given_up() {
        let mut rounds = Rounds::new(15);
        rounds.next(look("77893"));
        rounds.acted();
        assert_eq!(name(rounds.next(None)), "give up: Failed");
    }

    #[test]
    fn the_last_round_has_no_tools_and_must_answer() {
        for (reply, expected) in [
            (look("99999"), "give up: TooManyRounds"),
            (Some(Reply { text: "Here".into(), ..look("99999").unwrap() }), "say \"Here\""),
            (said("Done"), "say \"Done\""),
        ] {
            let mut rounds = Rounds::new(15);
            for n in 0..14 {
                assert!(rounds.offers_tools(), "{n}");
                assert_eq!(name(rounds.next(look(&format!("100{n:02}")))), "call", "{n}");
            }
            assert!(!rounds.offers_tools());
            assert_eq!(name(rounds.next(reply)), expected);
            assert_eq!(rounds.asked(), 15);
        }
    }
}

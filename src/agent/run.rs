//! The loop of a model that calls tools, without I/O.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tool::{InvalidCall, ToolCallable, ToolContext, ToolSet};
use crate::providers::llm::{ChatMessage, Reply, ToolCall};

/// How much a model may do in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Replies. The model is offered no tools for the last one, so it has to answer.
    pub replies: u32,
    /// Calls with the same name and arguments.
    pub same_call: u32,
    /// Calls of tools that do not exist.
    pub unknown_tools: u32,
    /// Calls with invalid arguments.
    pub invalid_arguments: u32,
    /// Calls in one reply.
    pub calls_per_reply: usize,
}

impl Limits {
    /// Returns the usual limits with this number of replies.
    pub fn with_replies(replies: u32) -> Self {
        Self { replies, same_call: 2, unknown_tools: 1, invalid_arguments: 2, calls_per_reply: 8 }
    }
}

/// Why a run ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveUp {
    SameCall,
    UnknownTools,
    InvalidArguments,
    TooManyCalls,
    /// The model still called tools when it was offered none.
    TooManyReplies,
    /// The model failed after a tool had changed something.
    Failed,
}

impl GiveUp {
    /// Returns the reason for the receipt and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameCall => "the model made the same call again and again",
            Self::UnknownTools => "the model called tools that are not there",
            Self::InvalidArguments => "the model called tools with arguments that do not fit",
            Self::TooManyCalls => "the model called too many tools at once",
            Self::TooManyReplies => "the model did not come to an answer",
            Self::Failed => "the model failed in the middle",
        }
    }
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The model's last message, which may be empty.
    Answered(String),
    GaveUp(GiveUp),
    /// The model failed before any tool changed something.
    Failed,
    /// The caller stopped the run.
    Stopped,
}

/// What to do next.
pub enum Next<C> {
    /// Send [`Run::messages`], with tools if [`Run::offers_tools`], and pass the reply to [`Run::add_reply`].
    CallModel,
    /// Make these calls in order, and pass each result to [`Run::add_result`].
    CallTools(Vec<PlannedCall<C>>),
    Done(Outcome),
}

/// A call to make, or why it cannot be made; the model is shown the reason instead of a result.
pub struct PlannedCall<C> {
    pub name: String,
    pub call: Result<Box<dyn ToolCallable<C>>, InvalidCall>,
}

/// One run of a model with tools: its transcript, its limits, and what comes next.
pub struct Run<'t, C> {
    tools: &'t ToolSet<C>,
    limits: Limits,
    messages: Vec<ChatMessage>,
    results: Vec<String>,
    replies: u32,
    calls: BTreeMap<(String, String), u32>,
    unknown_tools: u32,
    invalid_arguments: u32,
    has_acted: bool,
    next: Next<C>,
}

impl<'t, C: ToolContext> Run<'t, C> {
    /// Starts a run with the messages that the model sees first.
    pub fn new(tools: &'t ToolSet<C>, limits: Limits, messages: Vec<ChatMessage>) -> Self {
        Self {
            tools,
            limits,
            messages,
            results: Vec::new(),
            replies: 0,
            calls: BTreeMap::new(),
            unknown_tools: 0,
            invalid_arguments: 0,
            has_acted: false,
            next: Next::CallModel,
        }
    }

    /// Returns what to do next. Planned calls are returned once; the model is called after them.
    pub fn next_step(&mut self) -> Next<C> {
        std::mem::replace(&mut self.next, Next::CallModel)
    }

    /// Returns the transcript so far: the first messages, then replies and results.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// Returns how often the model has replied or failed.
    pub fn replies(&self) -> u32 {
        self.replies
    }

    /// Returns whether the model may call tools in its next reply.
    pub fn offers_tools(&self) -> bool {
        self.replies + 1 < self.limits.replies
    }

    /// Ends the run and returns the tools' results, on which the model's answer may be based.
    pub fn into_results(self) -> Vec<String> {
        self.results
    }

    /// Takes the model's reply; `None` if the model failed.
    pub fn add_reply(&mut self, reply: Option<Reply>) {
        let offered_tools = self.offers_tools();
        self.replies += 1;
        self.next = match reply {
            None if self.has_acted => Next::Done(Outcome::GaveUp(GiveUp::Failed)),
            None => Next::Done(Outcome::Failed),
            Some(reply) if reply.calls.is_empty() => Next::Done(Outcome::Answered(reply.text)),
            Some(reply) if !offered_tools => Next::Done(match reply.text.trim().is_empty() {
                true => Outcome::GaveUp(GiveUp::TooManyReplies),
                false => Outcome::Answered(reply.text),
            }),
            Some(reply) => match self.plan_all(&reply) {
                Ok(planned) => {
                    self.messages.push(ChatMessage::called(reply));
                    Next::CallTools(planned)
                }
                Err(reason) => Next::Done(Outcome::GaveUp(reason)),
            },
        };
    }

    /// Takes the result of a call. `acted` is whether the call changed something.
    pub fn add_result(&mut self, name: &str, result: &Value, acted: bool) {
        let result = result.to_string();
        self.messages.push(ChatMessage::result(name, result.clone()));
        self.results.push(result);
        self.has_acted |= acted;
    }

    fn plan_all(&mut self, reply: &Reply) -> Result<Vec<PlannedCall<C>>, GiveUp> {
        if reply.calls.len() > self.limits.calls_per_reply {
            return Err(GiveUp::TooManyCalls);
        }
        reply.calls.iter().map(|call| self.plan(call)).collect()
    }

    fn plan(&mut self, call: &ToolCall) -> Result<PlannedCall<C>, GiveUp> {
        // The order of fields does not matter.
        let mut arguments = call.arguments.clone();
        arguments.sort_all_objects();
        let times = self.calls.entry((call.name.clone(), arguments.to_string())).or_default();
        *times += 1;
        if *times > self.limits.same_call {
            return Err(GiveUp::SameCall);
        }
        let parsed = self.tools.parse(&call.name, &call.arguments);
        match &parsed {
            Ok(_) => {}
            Err(InvalidCall::UnknownTool(_)) => {
                self.unknown_tools += 1;
                if self.unknown_tools > self.limits.unknown_tools {
                    return Err(GiveUp::UnknownTools);
                }
            }
            Err(InvalidCall::Arguments(_)) => {
                self.invalid_arguments += 1;
                if self.invalid_arguments > self.limits.invalid_arguments {
                    return Err(GiveUp::InvalidArguments);
                }
            }
        }
        Ok(PlannedCall { name: call.name.clone(), call: parsed })
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::agent::tool::{CallError, Tool};

    struct Nothing;

    struct Never;

    impl CallError for Never {
        type Fatal = ();

        fn into_result(self) -> Result<Value, ()> {
            Err(())
        }
    }

    impl ToolContext for Nothing {
        type Error = Never;
    }

    /// Looks an order up.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct LookUp {
        /// The number.
        order_id: String,
        /// The e-mail address.
        email: Option<String>,
    }

    impl Tool<Nothing> for LookUp {
        const NAME: &'static str = "look_up";
        const ACTS: bool = true;

        fn recorded(&self) -> Value {
            json!({ "order_id": self.order_id, "by_email": self.email.is_some() })
        }

        async fn run(&self, _: &mut Nothing) -> Result<Value, Never> {
            Ok(json!({}))
        }
    }

    fn tools() -> ToolSet<Nothing> {
        ToolSet::default().with::<LookUp>()
    }

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall { name: name.to_owned(), arguments }
    }

    fn calls(calls: Vec<ToolCall>) -> Option<Reply> {
        Some(Reply { text: String::new(), calls })
    }

    fn look(number: &str) -> Option<Reply> {
        calls(vec![call("look_up", json!({"order_id": number}))])
    }

    fn unknown() -> Option<Reply> {
        calls(vec![call("refund_now", json!({"amount": 1}))])
    }

    fn invalid(n: u32) -> Option<Reply> {
        calls(vec![call("look_up", json!({"order": n}))])
    }

    fn text(text: &str) -> Option<Reply> {
        Some(Reply { text: text.to_owned(), calls: vec![] })
    }

    fn shown(step: Next<Nothing>) -> String {
        match step {
            Next::CallModel => "call the model".to_owned(),
            Next::CallTools(planned) => {
                let calls = planned.iter().map(|planned| match &planned.call {
                    Ok(call) => call.name(),
                    Err(InvalidCall::UnknownTool(_)) => "unknown",
                    Err(InvalidCall::Arguments(_)) => "invalid",
                });
                calls.collect::<Vec<_>>().join("+")
            }
            Next::Done(outcome) => format!("{outcome:?}"),
        }
    }

    #[test]
    fn every_run_of_a_model_ends() {
        let too_many = (0..9).map(|n| call("look_up", json!({"order_id": n.to_string()}))).collect();
        let two = vec![call("look_up", json!({"order_id": "77893"})), call("nothing", json!({}))];
        let ordered = |first: &str, second: &str| {
            let fields = [first, second].map(|name| (name.to_owned(), json!(1)));
            calls(vec![call("look_up", Value::Object(fields.into_iter().collect()))])
        };
        for (replies, expected) in [
            (vec![text("Hello")], "Answered(\"Hello\")"),
            (vec![text("")], "Answered(\"\")"),
            (vec![None], "Failed"),
            (vec![look("77893"), None], "Failed"),
            (vec![look("77893"), text("Here")], "Answered(\"Here\")"),
            (vec![look("77893"), look("77894"), look("77893")], "look_up"),
            (vec![look("77893"), look("77894"), look("77893"), look("77893")], "GaveUp(SameCall)"),
            (vec![calls(two)], "look_up+unknown"),
            (vec![calls(too_many)], "GaveUp(TooManyCalls)"),
            (vec![unknown()], "unknown"),
            (vec![unknown(), look("77893"), calls(vec![call("x", json!({}))])], "GaveUp(UnknownTools)"),
            (vec![invalid(1), invalid(2)], "invalid"),
            (vec![invalid(1), look("77893"), invalid(2), invalid(3)], "GaveUp(InvalidArguments)"),
            (vec![ordered("a", "b"), ordered("b", "a"), ordered("a", "b")], "GaveUp(SameCall)"),
            (vec![calls(vec![call("", Value::Null)])], "unknown"),
            (vec![calls(vec![call("look_up", json!("77893"))])], "invalid"),
        ] {
            let tools = tools();
            let mut run = Run::new(&tools, Limits::with_replies(15), vec![]);
            let mut last = String::new();
            for reply in replies {
                run.add_reply(reply);
                last = shown(run.next_step());
            }
            assert_eq!(last, expected);
        }
    }

    #[test]
    fn failure_after_an_action_gives_up() {
        let tools = tools();
        let mut run = Run::new(&tools, Limits::with_replies(15), vec![]);
        run.add_reply(look("77893"));
        run.add_result("look_up", &json!({}), true);
        run.add_reply(None);
        assert_eq!(shown(run.next_step()), "GaveUp(Failed)");
    }

    #[test]
    fn last_reply_has_no_tools_and_must_answer() {
        for (reply, expected) in [
            (look("99999"), "GaveUp(TooManyReplies)"),
            (Some(Reply { text: "Here".into(), ..look("99999").unwrap() }), "Answered(\"Here\")"),
            (text("Done"), "Answered(\"Done\")"),
        ] {
            let tools = tools();
            let mut run = Run::new(&tools, Limits::with_replies(3), vec![]);
            for number in ["10001", "10002"] {
                assert!(run.offers_tools(), "{number}");
                run.add_reply(look(number));
                assert_eq!(shown(run.next_step()), "look_up", "{number}");
            }
            assert!(!run.offers_tools());
            run.add_reply(reply);
            assert_eq!((shown(run.next_step()), run.replies()), (expected.to_owned(), 3));
        }
    }

    #[test]
    fn transcript_holds_calls_and_their_results() {
        let tools = tools();
        let mut run = Run::new(&tools, Limits::with_replies(3), vec![ChatMessage::user("hi")]);
        assert_eq!(shown(run.next_step()), "call the model");
        run.add_reply(look("77893"));
        run.add_result("look_up", &json!({"success": true}), false);
        let called = ChatMessage::called(look("77893").unwrap());
        let result = ChatMessage::result("look_up", "{\"success\":true}");
        assert_eq!(run.messages(), [ChatMessage::user("hi"), called, result]);
        assert_eq!(run.into_results(), ["{\"success\":true}"]);
    }
}

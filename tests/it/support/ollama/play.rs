//! How one chat is answered, packet by packet.

use std::time::Duration;

use serde_json::{Value, json};

/// One answer to one chat: an HTTP status, then steps. Steps are added in the order in which they are played; when they
/// are over, the body ends as HTTP wants it, whether or not `done` was said.
#[derive(Clone, Debug)]
pub struct Play {
    pub(super) status: u16,
    pub(super) steps: Vec<Step>,
    /// The pause after each packet.
    pub(super) pace: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// These bytes in a packet (and an HTTP chunk) of their own.
    Packet(Vec<u8>),
    /// Nothing more, until the client leaves.
    Stall,
    /// The connection ends in the middle of the body.
    HangUp,
}

impl Play {
    /// Says nothing, not even that it is done.
    pub fn new() -> Self {
        Self { status: 200, steps: Vec::new(), pace: Duration::ZERO }
    }

    /// This text, word by word, and done.
    pub fn reply(text: &str) -> Self {
        Self::new().says(text).done()
    }

    /// This text in one piece, as a chat without a stream is answered.
    pub fn answer(text: &str) -> Self {
        Self::new().line(&line(json!({"content": text}), json!({"done": true, "done_reason": "stop"})))
    }

    /// These tools are called, with these arguments, as a chat with `tools` is answered.
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        let calls: Vec<Value> =
            calls.iter().map(|(name, arguments)| json!({"function": {"name": name, "arguments": arguments}})).collect();
        let message = json!({"content": "", "thinking": "What next?", "tool_calls": calls});
        Self::new().line(&line(message, json!({"done": true, "done_reason": "stop"})))
    }

    /// An HTTP error with Ollama's kind of body.
    pub fn refuses(status: u16, message: &str) -> Self {
        Self { status, ..Self::new() }.fails(message)
    }

    /// Too many requests wait: 503.
    pub fn busy() -> Self {
        Self::refuses(503, "server busy, please try again.  maximum pending requests exceeded")
    }

    /// The model was never pulled: 404.
    pub fn no_such_model() -> Self {
        Self::refuses(404, "model 'gpt-oss' not found")
    }

    /// This text, a line for each word.
    pub fn says(self, text: &str) -> Self {
        text.split_inclusive(' ')
            .fold(self, |play, word| play.line(&line(json!({"content": word}), json!({"done": false}))))
    }

    /// Thoughts, a line for each word.
    pub fn thinks(self, text: &str) -> Self {
        text.split_inclusive(' ')
            .fold(self, |play, word| play.line(&line(json!({"content": "", "thinking": word}), json!({"done": false}))))
    }

    /// The last line.
    pub fn done(self) -> Self {
        self.done_because("stop")
    }

    /// The last line, with another reason (`length`).
    pub fn done_because(self, reason: &str) -> Self {
        self.line(&line(json!({"content": ""}), json!({"done": true, "done_reason": reason, "eval_count": 1})))
    }

    /// An error line, under whatever status the answer has.
    pub fn fails(self, message: &str) -> Self {
        self.line(&json!({"error": message}).to_string())
    }

    /// Any line.
    pub fn line(self, line: &str) -> Self {
        self.step(Step::Packet(format!("{line}\n").into_bytes()))
    }

    pub fn stalls(self) -> Self {
        self.step(Step::Stall)
    }

    pub fn hangs_up(self) -> Self {
        self.step(Step::HangUp)
    }

    /// A pause after each packet.
    pub fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// Cuts each packet so far into packets of so many bytes.
    pub fn in_packets_of(self, bytes: usize) -> Self {
        self.cut(|packet| packet.chunks(bytes).map(<[u8]>::to_vec).collect())
    }

    /// Cuts each packet so far in two, in the middle of its line.
    pub fn torn_lines(self) -> Self {
        self.cut(|packet| {
            let (a, b) = packet.split_at(packet.len() / 2);
            vec![a.to_vec(), b.to_vec()]
        })
    }

    /// Cuts each packet so far that holds this letter in two, inside the letter, after its first byte.
    pub fn torn_inside(self, letter: char) -> Self {
        let bytes = letter.to_string().into_bytes();
        assert!(bytes.len() > 1, "{letter} cannot be torn");
        self.cut(|packet| match packet.windows(bytes.len()).position(|window| window == bytes) {
            Some(at) => vec![packet[..=at].to_vec(), packet[at + 1..].to_vec()],
            None => vec![packet.to_vec()],
        })
    }

    fn cut(self, cut: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Self {
        let steps = self.steps.into_iter().flat_map(|step| match step {
            Step::Packet(packet) => cut(&packet).into_iter().map(Step::Packet).collect(),
            other => vec![other],
        });
        Self { steps: steps.collect(), ..self }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// A line as Ollama writes it.
fn line(message: Value, more: Value) -> String {
    let mut line =
        json!({"model": "gpt-oss", "created_at": "2026-11-21T08:00:00.000000001Z", "message": {"role": "assistant"}});
    for (name, value) in message.as_object().expect("an object") {
        line["message"][name] = value.clone();
    }
    for (name, value) in more.as_object().expect("an object") {
        line[name] = value.clone();
    }
    line.to_string()
}

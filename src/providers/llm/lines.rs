//! Parses Ollama's chat stream: one JSON object per line.

use std::io;

use async_stream::try_stream;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use super::{Deltas, LlmError, Phase, Reply, ToolCall};

/// The maximum length of a line in bytes. A normal line has one token.
pub(super) const MAX_LINE: usize = 256 * 1024;

/// Bytes that are allowed per token. Most tokens have three or four.
const BYTES_OF_A_TOKEN: usize = 8;

/// The remaining bytes of an answer, including thinking. Enforces the limit even if the server ignores it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance(usize);

impl Allowance {
    pub fn of_tokens(tokens: u32) -> Self {
        Self(usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_OF_A_TOKEN))
    }

    /// Counts a line, and cuts its text at the end of the allowance. Returns whether the allowance is used up.
    fn take(&mut self, said: &mut Said) -> bool {
        // Count empty lines, too, so that endless ones reach the limit.
        let thought = said.thinking.as_ref().map_or(0, String::len).max(1);
        let text = said.content.get_or_insert_default();
        self.0 = self.0.saturating_sub(thought);
        let fits = text.floor_char_boundary(self.0);
        let ended = fits < text.len() || self.0 == 0;
        text.truncate(fits);
        self.0 -= fits;
        ended
    }
}

/// A line, or a complete answer without streaming. Fields can be missing or null; `thinking` is only counted.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    message: Option<Said>,
    done: Option<bool>,
    done_reason: Option<String>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Called>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Called {
    function: Function,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Option<String>,
    #[serde(alias = "parameters")]
    arguments: Value,
}

/// The state of an answer after a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Incomplete,
    Complete,
    /// The model reached its length limit, or its [`Allowance`].
    Cut,
}

/// Parses the text of a line and the state of the answer.
pub(super) fn parse(line: &[u8], allowance: &mut Allowance) -> Result<(String, Progress), LlmError> {
    let (said, progress) = read(line, allowance)?;
    Ok((said.content.unwrap_or_default(), progress))
}

/// Parses the text and tool calls of a line and the state of the answer.
pub(super) fn parse_reply(line: &[u8], allowance: &mut Allowance) -> Result<(Reply, Progress), LlmError> {
    let (said, progress) = read(line, allowance)?;
    let calls = said.tool_calls.unwrap_or_default().into_iter().map(|called| ToolCall {
        name: called.function.name.unwrap_or_default(),
        arguments: unpacked(called.function.arguments),
    });
    Ok((Reply { text: said.content.unwrap_or_default(), calls: calls.collect() }, progress))
}

/// Parses arguments that a model sent as a JSON string.
fn unpacked(arguments: Value) -> Value {
    let inside = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    inside.filter(Value::is_object).unwrap_or(arguments)
}

fn read(line: &[u8], allowance: &mut Allowance) -> Result<(Said, Progress), LlmError> {
    let line: Line = serde_json::from_slice(line).map_err(|error| match error.is_eof() {
        true => LlmError::Truncated,
        false => LlmError::Protocol("a line is not valid JSON"),
    })?;
    if let Some(error) = line.error {
        return Err(LlmError::Model(error.as_str().map_or_else(|| error.to_string(), str::to_owned)));
    }
    let mut said = line.message.unwrap_or_default();
    let progress = match (line.done, line.done_reason.as_deref()) {
        _ if allowance.take(&mut said) => Progress::Cut,
        (Some(true), Some("length")) => Progress::Cut,
        (Some(true), _) => Progress::Complete,
        _ => Progress::Incomplete,
    };
    Ok((said, progress))
}

/// Parses the text of a streamed chat. Fails with [`LlmError::Truncated`] if the body ends before `done`, and with
/// [`LlmError::TooLong`] above the allowance.
pub(super) fn deltas(body: impl Stream<Item = io::Result<Bytes>> + Send + 'static, mut allowance: Allowance) -> Deltas {
    let codec = LinesCodec::new_with_max_length(MAX_LINE);
    let mut lines = FramedRead::new(StreamReader::new(Box::pin(body)), codec);
    Box::pin(try_stream! {
        while let Some(line) = lines.next().await {
            let line = line.map_err(broken)?;
            if line.trim().is_empty() {
                continue;
            }
            let (text, progress) = parse(line.as_bytes(), &mut allowance)?;
            if !text.is_empty() {
                yield text;
            }
            match progress {
                Progress::Incomplete => {}
                Progress::Complete => return,
                Progress::Cut => Err(LlmError::TooLong)?,
            }
        }
        Err(LlmError::Truncated)?;
    })
}

fn broken(error: LinesCodecError) -> LlmError {
    match error {
        LinesCodecError::MaxLineLengthExceeded => LlmError::Protocol("a line is longer than the limit"),
        LinesCodecError::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut => LlmError::Timeout(Phase::BetweenTokens),
            io::ErrorKind::InvalidData => LlmError::Protocol("a line is not UTF-8"),
            _ => LlmError::Truncated,
        },
    }
}

#[cfg(test)]
mod tests;

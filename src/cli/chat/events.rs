//! Parses server-sent events: one JSON object in one `data:` line, and an optional `id:`.

use std::io;

use async_stream::try_stream;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use crate::domain::EventId;

/// The maximum length of a line.
const MAX_LINE: usize = 1024 * 1024;

/// An event and its id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub id: Option<EventId>,
    pub event: Event,
}

/// An event that the terminal shows. Unknown types become `Other`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    /// `agent`: the shop starts the turn with this text.
    #[serde(rename = "turn.start")]
    TurnStart { sender: String, text: String },
    #[serde(rename = "queued")]
    Queued { position: u32 },
    #[serde(rename = "message.start")]
    MessageStart { kind: String },
    #[serde(rename = "delta")]
    Delta { text: String },
    #[serde(rename = "message.end")]
    MessageEnd { metadata: Metadata },
    #[serde(rename = "error")]
    Error { message: String },
    #[serde(rename = "turn.done")]
    TurnDone { status: String },
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Metadata {
    #[serde(default)]
    pub cut: bool,
}

/// Parses the events of a body. Skips frames without a type, such as the opening frame.
pub(super) fn read(
    body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> impl Stream<Item = Result<Frame, LinesCodecError>> {
    let codec = LinesCodec::new_with_max_length(MAX_LINE);
    let mut lines = FramedRead::new(StreamReader::new(Box::pin(body)), codec);
    try_stream! {
        let (mut id, mut event) = (None, None);
        while let Some(line) = lines.next().await {
            let line = line?;
            match line.split_once(':').map(|(field, value)| (field, value.strip_prefix(' ').unwrap_or(value))) {
                Some(("id", value)) => id = value.parse().ok(),
                Some(("data", value)) => event = serde_json::from_str(value).ok(),
                _ if line.is_empty() => {
                    if let Some(event) = event.take() {
                        yield Frame { id: id.take(), event };
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_parse_across_any_packet_boundary() {
        let text = "retry: 2000\ndata: {\"debug\":\"stream-open\"}\n\n: keep-alive\n\n\
                    id: 1.1\r\ndata: {\"type\":\"message.start\",\"kind\":\"reply\",\"message_id\":\"m\"}\r\n\r\n\
                    id:1.2\ndata:{\"type\":\"delta\",\"text\":\"đổi\"}\n\n\
                    id: 1.3\ndata: {\"type\":\"tool.start\",\"name\":\"x\"}\n\n\
                    id: 1.4\ndata: {\"type\":\"message.end\",\"metadata\":{\"cut\":true}}\n\n\
                    id: 1.5\ndata: {\"type\":\"turn.done\",\"status\":\"completed\"}\n";
        let frame = |n, event| Frame { id: Some(EventId::new(1, n)), event };
        let expected = [
            frame(1, Event::MessageStart { kind: "reply".to_owned() }),
            frame(2, Event::Delta { text: "đổi".to_owned() }),
            frame(3, Event::Other),
            frame(4, Event::MessageEnd { metadata: Metadata { cut: true } }),
        ];
        for cut in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            let packets = [a, b].map(|packet| Ok(Bytes::copy_from_slice(packet)));
            let frames: Vec<Frame> =
                Box::pin(read(futures_util::stream::iter(packets))).map(Result::unwrap).collect().await;
            assert_eq!(frames, expected, "cut at {cut}; the last frame lacks its empty line, so it is incomplete");
        }
    }
}

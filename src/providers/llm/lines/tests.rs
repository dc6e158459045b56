use futures_util::stream;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What a body that arrives in these packets says.
async fn read(packets: Vec<io::Result<Bytes>>) -> Vec<Result<String, LlmError>> {
    deltas(stream::iter(packets), Allowance::of_tokens(2048)).collect().await
}

async fn read_text(body: &str) -> Vec<Result<String, LlmError>> {
    read(vec![Ok(Bytes::copy_from_slice(body.as_bytes()))]).await
}

fn said(text: &str) -> Result<String, LlmError> {
    Ok(text.to_owned())
}

#[tokio::test]
async fn every_end_of_a_stream_has_its_result() {
    let table = [
        ("{\"message\":{\"content\":\"Dạ\"}}\n{\"done\":true}\n", vec![said("Dạ")]),
        // The last line may speak, may lack its line feed, and nothing after it counts.
        ("{\"message\":{\"content\":\"Dạ\"},\"done\":true}", vec![said("Dạ")]),
        ("{\"done\":true}\n{\"message\":{\"content\":\"x\"}}\n", vec![]),
        // Empty lines, CRLF, nulls, unknown fields and thinking say nothing.
        ("\n\r\n{}\r\n{\"message\":null}\n{\"message\":{\"content\":null,\"new\":1}}\n{\"done\":true}\n", vec![]),
        ("{\"message\":{\"thinking\":\"hm\",\"content\":\"\"}}\n{\"done\":true,\"error\":null}\n", vec![]),
        // It breaks off: with nothing, after a line, inside a line.
        ("", vec![Err(LlmError::Truncated)]),
        ("{\"message\":{\"content\":\"Dạ\"}}\n", vec![said("Dạ"), Err(LlmError::Truncated)]),
        ("{\"message\":{\"content\":\"Dạ\"}}\n{\"mess", vec![said("Dạ"), Err(LlmError::Truncated)]),
        ("{\"error\":\"out of memory\"}\n", vec![Err(LlmError::Model("out of memory".into()))]),
        ("{\"error\":{\"code\":7}}\n", vec![Err(LlmError::Model("{\"code\":7}".into()))]),
        (
            "{\"message\":{\"content\":\"a\"},\"done\":true,\"done_reason\":\"length\"}",
            vec![said("a"), Err(LlmError::TooLong)],
        ),
        ("<html>\n", vec![Err(LlmError::Protocol("a line is not valid JSON"))]),
        ("{\"done\":\"yes\"}\n", vec![Err(LlmError::Protocol("a line is not valid JSON"))]),
    ];
    for (body, expected) in table {
        assert_eq!(read_text(body).await, expected, "{body}");
    }
}

#[tokio::test]
async fn line_above_limit_is_an_error() {
    let line = format!("{}\n", json!({"message": {"content": "a".repeat(MAX_LINE)}}));
    let expected = vec![Err(LlmError::Protocol("a line is longer than the limit"))];
    assert_eq!(read_text(&line).await, expected);
    let packets = line.as_bytes().chunks(1000).map(|packet| Ok(Bytes::copy_from_slice(packet))).collect();
    assert_eq!(read(packets).await, expected);
}

#[tokio::test]
async fn endless_answer_ends_at_its_byte_limit() {
    let endless = |message: Value| {
        let line = Bytes::from(format!("{}\n", json!({ "message": message })));
        stream::repeat_with(move || Ok(line.clone()))
    };
    for (message, expected) in [
        (json!({"content": "ấy"}), "ấyấyấy"),
        (json!({"content": "ấ".repeat(1000)}), "ấấấấấ"),
        (json!({"content": "ấy", "thinking": "ừm"}), "ấyấy"),
        (json!({"content": "", "thinking": "ừm"}), ""),
        (json!({"content": ""}), ""),
    ] {
        let deltas: Vec<_> = deltas(endless(message.clone()), Allowance::of_tokens(2)).collect().await;
        let (last, said) = deltas.split_last().expect("an end");
        assert_eq!(*last, Err(LlmError::TooLong), "{message}");
        let said: String = said.iter().map(|piece| piece.clone().expect("text")).collect();
        assert_eq!(said, expected, "{message}");
    }
}

#[tokio::test]
async fn lost_connection_timeout_and_garbage_are_distinct() {
    let table = [
        (Err(io::ErrorKind::ConnectionReset.into()), LlmError::Truncated),
        (Err(io::ErrorKind::TimedOut.into()), LlmError::Timeout(Phase::BetweenTokens)),
        (Ok(Bytes::from_static(b"\"\xe1\xba\"\n")), LlmError::Protocol("a line is not UTF-8")),
    ];
    for (packet, expected) in table {
        assert_eq!(read(vec![packet]).await, vec![Err(expected)]);
    }
}

proptest! {
    #[test]
    fn text_is_complete_across_packet_boundaries(
        pieces in prop::collection::vec("[a-zA-Zạếộữđ💖\"\\\\\n ]{1,8}", 1..8),
        size in 1_usize..7,
    ) {
        let line = |text| format!("{}\n", json!({"message": {"content": text}}));
        let mut body: String = pieces.iter().map(line).collect();
        body.push_str("{\"done\":true}\n");
        let packets = body.as_bytes().chunks(size).map(|packet| Ok(Bytes::copy_from_slice(packet))).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let expected: Vec<_> = pieces.into_iter().map(Ok).collect();
        prop_assert_eq!(runtime.block_on(read(packets)), expected);
    }
}

#[test]
fn call_arguments_are_objects_or_json_strings() {
    let line = |calls: &str| format!("{{\"message\":{{\"content\":\"\",\"tool_calls\":{calls}}},\"done\":true}}");
    let call = |name: &str, arguments: Value| ToolCall { name: name.to_owned(), arguments };
    let id = json!({"order_id": "77893"});
    for (calls, expected) in [
        ("null", vec![]),
        ("[]", vec![]),
        ("[{\"function\":{\"name\":\"a\",\"arguments\":{\"order_id\":\"77893\"}}}]", vec![call("a", id.clone())]),
        ("[{\"id\":\"x\",\"function\":{\"index\":0,\"name\":\"a\",\"parameters\":{}}}]", vec![call("a", json!({}))]),
        ("[{\"function\":{\"name\":\"a\",\"arguments\":\"{\\\"order_id\\\":\\\"77893\\\"}\"}}]", vec![call("a", id)]),
        ("[{\"function\":{\"name\":\"a\",\"arguments\":\"77893\"}}]", vec![call("a", json!("77893"))]),
        ("[{\"function\":{\"name\":\"a\",\"arguments\":\"[1]\"}}]", vec![call("a", json!("[1]"))]),
        ("[{\"function\":{\"name\":null}},{}]", vec![call("", Value::Null), call("", Value::Null)]),
    ] {
        let (reply, progress) = parse_reply(line(calls).as_bytes(), &mut Allowance::of_tokens(1)).expect(calls);
        assert_eq!((reply.calls, progress), (expected, Progress::Complete), "{calls}");
    }
    assert!(parse_reply(line("[7]").as_bytes(), &mut Allowance::of_tokens(1)).is_err());
}

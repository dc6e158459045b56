//! Removes from a model's reply what is not meant for a customer.

use serde_json::Value;

/// Elements that models write for machines. They are removed, closed or not.
const ELEMENTS: [&str; 11] = [
    "think",
    "thinking",
    "thought",
    "scratchpad",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "function_call",
    "function",
    "invoke",
];
/// Marks with which some models begin their calls; no text follows them.
const CALLS_FOLLOW: [&str; 3] = ["[TOOL_CALLS]", "[tool_calls]", "<|python_tag|>"];
const FENCE: &str = "```";

/// Returns the text without thoughts, tool calls, code and JSON, and whether anything was removed. A text that names one of the
/// tools is empty: it was not written for a customer.
pub fn for_customer(reply: &str, tool_names: &[&str]) -> (String, bool) {
    let text = last_channel(reply);
    let calls = CALLS_FOLLOW.iter().filter_map(|mark| text.find(*mark)).min();
    let text = text[..calls.unwrap_or(text.len())].to_owned();
    let text = ELEMENTS.iter().fold(text, |text, name| without_element(text, name));
    let text = without_json(&without_fences(text));
    let text = tidy(&text);
    let names_tool = tool_names.iter().any(|name| text.contains(name));
    let text = if names_tool || !text.chars().any(char::is_alphanumeric) { String::new() } else { text };
    let changed = text != tidy(reply);
    (text, changed)
}

/// Returns the text after the last channel mark, which gpt-oss writes if its server does not parse them. Its analysis is not for
/// the customer.
fn last_channel(reply: &str) -> String {
    let (marks, last) = reply.rsplit_once("<|message|>").unwrap_or(("", reply));
    if marks.trim_end().ends_with("<|channel|>analysis") {
        return String::new();
    }
    let mut text = last.to_owned();
    while let Some(start) = text.find("<|") {
        if text[start..].starts_with("<|python_tag|>") {
            break;
        }
        let end = text[start..].find("|>").map_or(text.len(), |end| start + end + 2);
        text.replace_range(start..end, "");
    }
    text
}

/// Removes `<name …>…</name>`: to the end of the text if it is not closed, and an end tag without a start tag.
fn without_element(mut text: String, name: &str) -> String {
    let close = format!("</{name}>");
    while let Some(start) = find_open(&text, name) {
        let end = find(&text[start..], &close).map_or(text.len(), |at| start + at + close.len());
        text.replace_range(start..end, "");
    }
    while let Some(start) = find(&text, &close) {
        // Some models omit the start tag of their thoughts.
        let from = if name.starts_with("think") { 0 } else { start };
        text.replace_range(from..start + close.len(), "");
    }
    text
}

/// Finds the start tag of an element: `<function>`, `<function=find>`, `<invoke name="find">`.
fn find_open(text: &str, name: &str) -> Option<usize> {
    let open = format!("<{name}");
    let mut from = 0;
    while let Some(at) = find(&text[from..], &open) {
        let start = from + at;
        match text[start + open.len()..].chars().next() {
            Some('>' | '=' | ' ' | '\n' | '/') | None => return Some(start),
            Some(_) => from = start + open.len(),
        }
    }
    None
}

/// Like `str::find`, ignoring ASCII case.
fn find(text: &str, what: &str) -> Option<usize> {
    text.as_bytes().windows(what.len()).position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

fn without_fences(mut text: String) -> String {
    while let Some(start) = text.find(FENCE) {
        let code = start + FENCE.len();
        let end = text[code..].find(FENCE).map_or(text.len(), |at| code + at + FENCE.len());
        text.replace_range(start..end, "");
    }
    text
}

/// Removes JSON objects and lists of objects.
fn without_json(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match if matches!(c, '{' | '[') { json_length(rest) } else { None } {
            Some(length) => rest = &rest[length..],
            None => {
                kept.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    kept
}

/// Returns the length of the JSON at the start of the text, if it is an object or a list that holds one.
fn json_length(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let is_markup = match &value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => false,
    };
    is_markup.then(|| values.byte_offset())
}

/// Removes space at the ends and repeated empty lines.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 3] = ["get_order_details", "check_eligibility", "create_rma"];

    #[test]
    fn markup_for_machines_is_removed() {
        for (said, expected) in [
            ("Your order is on its way.", "Your order is on its way."),
            ("**Order #:** 77893\n\n- Boots\n", "**Order #:** 77893\n\n- Boots"),
            ("It costs 3 < 5 and {nothing}.", "It costs 3 < 5 and {nothing}."),
            ("See [1] and <b>this</b>.", "See [1] and <b>this</b>."),
            ("<think>the customer is angry</think>\n\nI'm sorry.", "I'm sorry."),
            ("<THINK>never closed", ""),
            ("secret thoughts</think>Here you are.", "Here you are."),
            ("Sure.<tool_call>{\"name\":\"create_rma\"}</tool_call>", "Sure."),
            ("Sure.\n<function=create_rma>{}</function>", "Sure."),
            ("Sure.\n<invoke name=\"create_rma\">", "Sure."),
            ("I will look.\n```json\n{\"name\": \"x\"}\n```", "I will look."),
            ("{\"name\":\"get_order_details\",\"arguments\":{\"order_id\":\"77893\"}}", ""),
            ("[{\"name\":\"x\",\"parameters\":{}}]", ""),
            ("Done. {\"a\": {\"b\": \"}\"}} Bye.", "Done.  Bye."),
            ("Wait.[TOOL_CALLS][{\"name\":\"x\"}]", "Wait."),
            ("create_rma(order_id=\"77893\", item_ids=[1])", ""),
            ("I called check_eligibility and it said yes.", ""),
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
                "Hello.",
            ),
            ("<|channel|>analysis<|message|>The customer is angry<|end|>", ""),
            ("Hello.<|im_end|>", "Hello."),
            ("<functional> clothes are here", "<functional> clothes are here"),
            ("   \n ", ""),
            ("…", ""),
            ("```", ""),
            ("<", ""),
            ("Dạ em đây ạ <think>ừ</think>", "Dạ em đây ạ"),
        ] {
            assert_eq!(for_customer(said, &TOOLS).0, expected, "{said:?}");
        }
        assert!(!for_customer(" Hello. \n", &TOOLS).1 && for_customer("<think>x</think>Hello.", &TOOLS).1);
    }

    proptest::proptest! {
        #[test]
        fn any_reply_loses_its_markup(said in "[<>/|{}\\[\\]`\"a-zạ \n]{0,60}(<think>|</think>|```|\\{\"a\":1\\})?[<>|{a ]{0,10}") {
            let (text, _) = for_customer(&said, &TOOLS);
            proptest::prop_assert!(!text.contains("<think>") && !text.contains("```"));
        }
    }
}

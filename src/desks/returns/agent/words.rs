//! What of a model's last words is meant for a customer.

use serde_json::Value;

use super::tools;

/// Elements that models write for machines: all of them goes, whether or not it is closed.
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
/// Where some models begin their calls; nothing behind it is text.
const CALLS_FOLLOW: [&str; 3] = ["[TOOL_CALLS]", "[tool_calls]", "<|python_tag|>"];
const FENCE: &str = "```";

/// The text without thoughts, calls of tools, code and JSON, and whether there were any. Empty: nothing is left that a
/// customer can be shown.
pub(in crate::desks) fn for_customer(said: &str) -> (String, bool) {
    let text = channels(said);
    let text = CALLS_FOLLOW.iter().fold(text, |text, mark| before(text, mark));
    let text = ELEMENTS.iter().fold(text, |text, name| without_element(text, name));
    let text = without_json(&without_fences(text));
    let text = tidy(&text);
    // The name of a tool is no word of a customer's language: what is left around it was not meant for one.
    let names_tool = tools::names().any(|name| text.contains(name));
    let text = if names_tool || !text.chars().any(char::is_alphanumeric) { String::new() } else { text };
    let changed = text != tidy(said);
    (text, changed)
}

/// What stands behind the last of a model's channel marks, as gpt-oss writes them where its server does not read them.
fn channels(said: &str) -> String {
    let behind = said.rsplit_once("<|message|>").map_or(said, |(_, behind)| behind);
    let mut text = behind.to_owned();
    while let Some(start) = text.find("<|") {
        if text[start..].starts_with("<|python_tag|>") {
            break;
        }
        let end = text[start..].find("|>").map_or(text.len(), |end| start + end + 2);
        text.replace_range(start..end, "");
    }
    text
}

fn before(text: String, mark: &str) -> String {
    match text.find(mark) {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Without `<name …>…</name>`; what is never closed goes to its end, and a lone end goes alone.
fn without_element(mut text: String, name: &str) -> String {
    let close = format!("</{name}>");
    while let Some(start) = find_open(&text, name) {
        let end = find(&text[start..], &close).map_or(text.len(), |at| start + at + close.len());
        text.replace_range(start..end, "");
    }
    while let Some(start) = find(&text, &close) {
        // Some models leave out the beginning of their thoughts.
        let from = if name.starts_with("think") { 0 } else { start };
        text.replace_range(from..start + close.len(), "");
    }
    text
}

/// Where an element of that name begins: `<function>`, `<function=find>`, `<invoke name="find">`.
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

/// Like `str::find`, whatever the case of its ASCII letters.
fn find(text: &str, what: &str) -> Option<usize> {
    text.as_bytes().windows(what.len()).position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

fn without_fences(mut text: String) -> String {
    while let Some(start) = text.find(FENCE) {
        let behind = start + FENCE.len();
        let end = text[behind..].find(FENCE).map_or(text.len(), |at| behind + at + FENCE.len());
        text.replace_range(start..end, "");
    }
    text
}

/// Without JSON objects, and lists of them, wherever they stand.
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

/// The length of the JSON that a text begins with, if it is an object or a list of some.
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

/// No space at the ends, no empty lines in a row.
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

    #[test]
    fn only_what_is_meant_for_a_customer_is_left() {
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
            ("Hello.<|im_end|>", "Hello."),
            ("<functional> clothes are here", "<functional> clothes are here"),
            ("   \n ", ""),
            ("…", ""),
            ("```", ""),
            ("<", ""),
            ("Dạ em đây ạ <think>ừ</think>", "Dạ em đây ạ"),
        ] {
            assert_eq!(for_customer(said).0, expected, "{said:?}");
        }
        assert!(!for_customer(" Hello. \n").1 && for_customer("<think>x</think>Hello.").1);
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_model_writes_nothing_breaks(said in "[<>/|{}\\[\\]`\"a-zạ \n]{0,60}(<think>|</think>|```|\\{\"a\":1\\})?[<>|{a ]{0,10}") {
            let (text, _) = for_customer(&said);
            proptest::prop_assert!(!text.contains("<think>") && !text.contains("```"));
        }
    }
}

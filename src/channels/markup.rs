//! Turns Markdown into the formatting of WhatsApp.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Formats a text for WhatsApp: `*bold*`, `_italic_`, `~strike~`, monospaced text between three backticks, lists with `-` or numbers,
/// and links as plain addresses. A text of which nothing would be left does not change.
pub fn to_whatsapp(markdown: &str) -> String {
    let mut writer = Writer::default();
    Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH).for_each(|event| writer.take(event));
    let formatted = writer.written.trim();
    if formatted.is_empty() { markdown.trim().to_owned() } else { formatted.to_owned() }
}

/// Writes the text, with the lists and links that are open.
#[derive(Default)]
struct Writer {
    written: String,
    /// The next number of each open list, from the outermost; `None`: without numbers.
    lists: Vec<Option<u64>>,
    /// The address of the open link, and where its text begins.
    link: Option<(String, usize)>,
    quotes: usize,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.written.push_str(&text),
            Event::Code(text) => self.written.push_str(&format!("```{text}```")),
            Event::SoftBreak | Event::HardBreak => self.new_line(),
            Event::Rule => self.separate("———"),
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.separate(""),
            Tag::Heading { .. } => self.separate("*"),
            Tag::Strong => self.written.push('*'),
            Tag::Emphasis => self.written.push('_'),
            Tag::Strikethrough => self.written.push('~'),
            Tag::CodeBlock(_) => self.separate("```"),
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::List(first) => self.lists.push(first),
            Tag::Item => self.begin_item(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.to_string(), self.written.len()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::Strong => self.written.push('*'),
            TagEnd::Emphasis => self.written.push('_'),
            TagEnd::Strikethrough => self.written.push('~'),
            TagEnd::CodeBlock => {
                let text = self.written.trim_end().len();
                self.written.truncate(text);
                self.written.push_str("```");
            }
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn begin_item(&mut self) {
        let depth = self.lists.len().saturating_sub(1);
        self.new_line();
        self.written.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.written.push_str(&format!("{number}. "));
                *number += 1;
            }
            _ => self.written.push_str("- "),
        }
    }

    /// Adds the address after a text that is another one.
    fn end_link(&mut self) {
        let Some((address, begin)) = self.link.take() else { return };
        let text = self.written[begin..].trim();
        let is_address = text == address || address.strip_prefix("mailto:") == Some(text);
        if text.is_empty() {
            self.written.push_str(&address);
        } else if !is_address {
            self.written.push_str(&format!(": {address}"));
        }
    }

    fn new_line(&mut self) {
        if !self.written.is_empty() && !self.written.ends_with('\n') {
            self.written.push('\n');
        }
        if self.quotes > 0 {
            self.written.push_str("> ");
        }
    }

    /// Begins a paragraph.
    fn separate(&mut self, mark: &str) {
        // The text of an item follows its mark.
        let is_in_item = self.written.ends_with("- ") || self.written.ends_with(". ");
        if !(self.written.is_empty() || is_in_item && !self.lists.is_empty()) {
            let text = self.written.trim_end().len();
            self.written.truncate(text);
            self.written.push_str("\n\n");
        }
        if self.quotes > 0 {
            self.written.push_str("> ");
        }
        self.written.push_str(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_whatsapp_formatting() {
        for (markdown, expected) in [
            ("**Total** is *KSh 2,500*, not ~~3,000~~", "*Total* is _KSh 2,500_, not ~3,000~"),
            ("Use `KARIBU10`.", "Use ```KARIBU10```."),
            ("```\na = 1\nb\n```", "```a = 1\nb```"),
            ("# Offers\n\nToday only", "*Offers*\n\nToday only"),
            ("Goods:\n\n- shoes\n- boots\n  - red", "Goods:\n- shoes\n- boots\n  - red"),
            (
                "I found:\n1. Canvas shoes, KSh 1,250\n2. Boots\nWrite a number.",
                "I found:\n1. Canvas shoes, KSh 1,250\n2. Boots\nWrite a number.",
            ),
            ("See [our shop](https://shop.example/a?b=1).", "See our shop: https://shop.example/a?b=1."),
            ("<https://shop.example>", "https://shop.example"),
            ("https://shop.example/a_b_c", "https://shop.example/a_b_c"),
            ("> quoted\n> text\n\nafter", "> quoted\n> text\n\nafter"),
            ("one\n\ntwo", "one\n\ntwo"),
            ("2 < 3 & 5 * 3 = 15", "2 < 3 & 5 * 3 = 15"),
            ("a<b>c</b>", "a<b>c</b>"),
            ("[pay]: https://shop.example/pay", "[pay]: https://shop.example/pay"),
            ("", ""),
        ] {
            assert_eq!(to_whatsapp(markdown), expected, "{markdown:?}");
        }
    }
}

//! Removes the lists of sources that a language model writes, while its reply streams.

use futures_util::{StreamExt, future, stream};

use crate::domain::text::fold;
use crate::domain::text::sentences::{after_number, is_list_item};
use crate::providers::llm::Deltas;

/// Markup around a heading: "**Sources:**", "### Sources", "- Sources".
const MARKUP: &str = "*_#>-–—•~` \t";
/// A placeholder for the list, and the mark of a passage in the prompt.
const TAGS: [&str; 2] = ["[sources]", COPIED_TAG];
const COPIED_TAG: &str = "[source]";
/// Stands for `[sources]` inside the filter. Texts have no control characters.
const PLACEHOLDER: char = '\u{1}';
/// Stands for [`COPIED_TAG`].
const COPIED: char = '\0';
/// A line that is still undecided after so many characters is no heading.
const MOST_HELD: usize = 64;

/// Removes lists of sources from a model's reply.
pub fn without_lists(deltas: Deltas, headings: &[String]) -> Deltas {
    let filter = ListFilter::new(headings);
    let ended = deltas.map(Some).chain(stream::once(future::ready(None)));
    Box::pin(ended.scan(filter, |filter, delta| {
        future::ready(Some(match delta {
            Some(Ok(text)) => Ok(filter.push(&text)),
            Some(Err(error)) => Err(error),
            None => Ok(filter.finish()),
        }))
    }))
}

/// Removes headings of lists of sources, the lists below them, and the tags of sources. It works character by character, so the
/// result does not depend on how the reply is split into packets. It holds back the beginning of a line that may be a heading.
struct ListFilter {
    /// Folded.
    headings: Vec<String>,
    /// The beginning of what may be a tag.
    tag: String,
    /// The beginning of the current line while it is undecided.
    held: String,
    line: Line,
    /// Whether the current line begins with the placeholder for the list.
    has_placeholder: bool,
    /// White space that is shown before the next visible character.
    space: String,
    has_shown: bool,
    /// Whether the last visible character ends a sentence.
    has_ended: bool,
    shown: String,
}

/// What is known about the current line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// At its beginning.
    Begun(After),
    /// At the beginning of a sentence inside it.
    Sentence,
    /// Its text is shown.
    Shown,
    /// It belongs to a list of sources. Holds what the next line is after.
    Removed(After),
}

/// What a line is after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Text,
    /// The heading of a list of sources: everything up to an empty line belongs to the list.
    Heading,
    /// A source, or the empty line below a list: further items belong to the list.
    List,
}

impl ListFilter {
    fn new(headings: &[String]) -> Self {
        Self {
            headings: headings.iter().map(|heading| fold(heading)).collect(),
            tag: String::new(),
            held: String::new(),
            line: Line::Begun(After::Text),
            has_placeholder: false,
            space: String::new(),
            has_shown: false,
            has_ended: false,
            shown: String::new(),
        }
    }

    fn push(&mut self, text: &str) -> String {
        text.chars().filter(|c| !matches!(*c, COPIED | PLACEHOLDER)).for_each(|c| self.take_tag(c));
        std::mem::take(&mut self.shown)
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.tag).chars().for_each(|c| self.take(c));
        let is_of_list = match self.line {
            Line::Begun(After::Heading) | Line::Removed(_) => true,
            Line::Begun(After::List) if is_source(&self.held) => true,
            _ => self.is_heading(&self.held) || self.is_placeholder(),
        };
        if !is_of_list {
            self.release();
        }
        std::mem::take(&mut self.shown)
    }

    /// Removes tags, so that the lines are seen without them.
    fn take_tag(&mut self, c: char) {
        if self.tag.is_empty() && c != '[' {
            return self.take(c);
        }
        self.tag.push(c);
        let tag = self.tag.to_ascii_lowercase();
        if TAGS.contains(&tag.as_str()) {
            self.tag.clear();
            self.take(if tag == COPIED_TAG { COPIED } else { PLACEHOLDER });
        } else if !TAGS.iter().any(|other| other.starts_with(&tag)) {
            let held = std::mem::take(&mut self.tag);
            // Only its first character surely begins no tag.
            for (at, c) in held.char_indices() {
                if at == 0 { self.take(c) } else { self.take_tag(c) }
            }
        }
    }

    fn take(&mut self, c: char) {
        match (self.line, c) {
            (Line::Removed(after), '\n') => self.line = Line::Begun(after),
            (Line::Removed(_), _) | (Line::Shown | Line::Sentence, COPIED | PLACEHOLDER) => {}
            (Line::Begun(_), PLACEHOLDER) => self.has_placeholder |= self.held.chars().all(|c| MARKUP.contains(c)),
            (Line::Begun(_), COPIED) => {
                // A line that begins with the mark of a passage is a source that the model copied.
                if self.held.chars().all(|c| MARKUP.contains(c)) {
                    self.remove_line(After::List);
                }
            }
            (Line::Begun(after), c) => self.take_at_beginning(c, after),
            (Line::Sentence, c) => self.take_at_beginning(c, After::Text),
            (Line::Shown, '\n') => {
                self.show(c);
                self.line = Line::Begun(After::Text);
            }
            (Line::Shown, c) => {
                if c.is_whitespace() && self.space.is_empty() && self.has_ended {
                    self.line = Line::Sentence;
                }
                self.show(c);
            }
        }
    }

    fn take_at_beginning(&mut self, c: char, after: After) {
        let is_blank = self.held.trim().is_empty();
        if c == '\n' {
            let next = match after {
                _ if self.is_heading(&self.held) || self.is_placeholder() => After::Heading,
                After::Heading | After::List if is_blank => After::List,
                After::List if is_source(&self.held) => After::List,
                _ => After::Text,
            };
            if next == After::Text {
                self.release();
                self.show(c);
            } else {
                self.discard_held();
            }
            self.line = Line::Begun(next);
            return;
        }
        self.held.push(c);
        if self.begins_list(&self.held) || (after == After::Heading && !c.is_whitespace()) {
            self.remove_line(After::Heading);
        } else if after == After::List && is_source(&self.held) {
            self.remove_line(After::List);
        } else if !self.may_begin_list(&self.held, after) {
            self.line = Line::Shown;
            self.release();
        }
    }

    fn remove_line(&mut self, next: After) {
        self.discard_held();
        self.line = Line::Removed(next);
    }

    fn discard_held(&mut self) {
        self.has_placeholder = false;
        self.held.clear();
        if self.line == Line::Sentence {
            // What follows the list is not a sentence of this line.
            "\n".clone_into(&mut self.space);
        }
    }

    fn release(&mut self) {
        self.has_placeholder = false;
        let held = std::mem::take(&mut self.held);
        held.chars().for_each(|c| self.show(c));
    }

    fn show(&mut self, c: char) {
        if c.is_whitespace() {
            self.space.push(c);
            return;
        }
        let space = std::mem::take(&mut self.space);
        if self.has_shown {
            self.shown.push_str(&space);
        }
        self.has_shown = true;
        self.has_ended = ".!?…".contains(c);
        self.shown.push(c);
    }

    /// Whether the line is a heading with nothing after it.
    fn is_heading(&self, line: &str) -> bool {
        let line = without_markup(line).trim_end_matches(|c| MARKUP.contains(c) || c == ':');
        self.headings.contains(&fold(line))
    }

    /// Whether the current line is the placeholder alone, below the answer. Above it, the answer itself may follow.
    fn is_placeholder(&self) -> bool {
        self.has_placeholder && self.has_shown && without_markup(&self.held).is_empty()
    }

    /// Whether the beginning of a line is a heading with its colon.
    fn begins_list(&self, held: &str) -> bool {
        let text = without_markup(held);
        text.contains(':') && self.is_heading(text)
    }

    /// Whether more characters could make the beginning of a line the heading of a list, or an item of it.
    fn may_begin_list(&self, held: &str, after: After) -> bool {
        if held.chars().count() > MOST_HELD {
            return false;
        }
        let text = without_markup(held);
        let (folded, word) = (fold(text), fold(text.trim_end_matches(|c| MARKUP.contains(c))));
        // A number may be that of a heading or of an item.
        let may_number = text.chars().all(|c| c.is_ascii_digit());
        let may_be_item = after == After::List && text == "[";
        may_number
            || may_be_item
            || self.headings.iter().any(|heading| heading.starts_with(&folded) || *heading == word)
    }
}

/// Returns the beginning of a line from its first letter or sign, without its number.
fn without_markup(line: &str) -> &str {
    let is_markup = |c| MARKUP.contains(c) || c == ':';
    let line = line.trim_start_matches(is_markup);
    after_number(line).unwrap_or(line).trim_start_matches(is_markup)
}

/// Whether a line below a list of sources is one more item.
fn is_source(line: &str) -> bool {
    is_list_item(line) || line.trim_start().starts_with('[')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headings() -> Vec<String> {
        ["sources", "source", "źródła", "references"].map(str::to_owned).to_vec()
    }

    fn filtered(packets: &[&str]) -> String {
        let mut filter = ListFilter::new(&headings());
        let shown: String = packets.iter().map(|packet| filter.push(packet)).collect();
        shown + &filter.finish()
    }

    #[test]
    fn lists_of_sources_are_removed() {
        for (said, shown) in [
            ("Restart it.", "Restart it."),
            ("Restart it.\n\nSources:\n- Wi-Fi — LEDs — wifi.md (v2)", "Restart it."),
            ("Restart it.\n\n**Sources:**\n1. wifi.md\n2) apn.md\n", "Restart it."),
            ("Restart it.\n### Źródła\n* wifi.pl.md\n* apn.pl.md", "Restart it."),
            ("Restart it.\nŹRÓDŁA: wifi.pl.md, apn.pl.md", "Restart it."),
            ("Restart it.\n\nSources:\nwifi.md — LEDs\napn.md\n\nBye.", "Restart it.\n\nBye."),
            ("Restart it.\n\n2. **Sources**\nwifi.md\n[1] apn.md", "Restart it."),
            ("Restart it. Sources: wifi.md, apn.md\nmore.md\n\nBye.", "Restart it.\nBye."),
            ("Restart it. **Źródła:** wifi.md", "Restart it."),
            ("Restart it! Source\nwifi.md", "Restart it!"),
            ("Two sources: a microwave and 3. party routers.", "Two sources: a microwave and 3. party routers."),
            ("1. Unplug it.\n2. Wait 30 s. 3. Plug it in.", "1. Unplug it.\n2. Wait 30 s. 3. Plug it in."),
            ("[SOURCE] a.md\n- b.md\nRestart it. [SOURCE] Then wait.", "Restart it.  Then wait."),
            ("Sources:\n- wifi.md\n\nRestart it.", "Restart it."),
            ("Restart it.\nSources:\n- a.md\n\nIt takes a minute.", "Restart it.\nIt takes a minute."),
            ("Restart it [SOURCES] now.\n[SOURCES]", "Restart it  now."),
            ("Restart it.\n[SOURCE] Wi-Fi — LEDs — wifi.md (v2)\n", "Restart it."),
            ("Restart it.\n[SOURCES]\n- wifi.md", "Restart it."),
            ("Restart it.\n\n**[SOURCES]**\nwifi.md\n2. apn.md\n\nBye.", "Restart it.\n\nBye."),
            ("[SOURCES]\nRestart it.\n[SOURCES] Then wait.", "Restart it.\n Then wait."),
            ("Restart it.\nSources[SOURCES]\n- wifi.md", "Restart it."),
            ("Steps:\n- Unplug it.\n- Wait.", "Steps:\n- Unplug it.\n- Wait."),
            ("Sources of noise: a microwave.", "Sources of noise: a microwave."),
            ("Sourcescape", "Sourcescape"),
            ("See [1] and [so on].", "See [1] and [so on]."),
            ("[[SOURCES]", "["),
            ("  \n", ""),
        ] {
            assert_eq!(filtered(&[said]), shown, "{said:?}");
        }
    }

    #[test]
    fn text_streams_before_its_line_ends() {
        let mut filter = ListFilter::new(&headings());
        assert_eq!(filter.push("Restart"), "Restart");
        assert_eq!(filter.push(" it.\nSo"), " it.");
        assert_eq!(filter.push("me"), "\nSome");
    }

    proptest! {
        #[test]
        fn result_is_equal_for_every_cutting(
            text in "(Restart it|Restart it\\. |\\*\\*Sources:\\*\\*|Źródła|Sources|sources of|\\[SOURCES?\\]|\\[|- wifi\\.md|wifi\\.md|1\\. |2\\. Sources|: | |\n|\n\n){0,14}",
            cuts in prop::collection::vec(0_usize..60, 0..12),
        ) {
            let mut at: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary((*cut).min(text.len()))).collect();
            at.extend([0, text.len()]);
            at.iter_mut().for_each(|cut| *cut = (*cut).min(text.len()));
            at.sort_unstable();
            let packets: Vec<&str> = at.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
            let whole = filtered(&[&text]);
            prop_assert_eq!(&filtered(&packets), &whole);
            prop_assert!(!TAGS.iter().any(|tag| whole.to_lowercase().contains(tag)), "{:?}", whole);
            let has_heading = |line: &str| ListFilter::new(&headings()).is_heading(line);
            prop_assert!(!whole.lines().any(has_heading), "{:?}", whole);
            let begins_list = |line: &str| line.split(". ").any(|sentence| ListFilter::new(&headings()).begins_list(sentence));
            prop_assert!(!whole.lines().any(begins_list), "{:?}", whole);
        }
    }
}

//! The list of sources below a technical answer. The desk alone writes it; what a language model writes of the kind is removed
//! while the reply streams.

use futures_util::{StreamExt, future, stream};

use crate::domain::text::fold;
use crate::providers::llm::Deltas;
use crate::retrieval::Passage;

/// Markup around a heading: "**Sources:**", "### Sources", "- Sources".
const MARKUP: &str = "*_#>-–—•~` \t";
/// A placeholder for the list, and the mark of a passage in the prompt.
const TAGS: [&str; 2] = ["[sources]", COPIED_TAG];
const COPIED_TAG: &str = "[source]";
/// Stands for [`COPIED_TAG`] inside the filter. Texts have no control characters.
const COPIED: char = '\0';
/// A line that is still undecided after so many characters is no heading.
const MOST_HELD: usize = 64;

/// Returns the prompt's or the list's name of a passage: `Title — Section / Subsection — file (v2.1)`.
pub(super) fn citation(passage: &Passage) -> String {
    let section = passage.section.replace(" > ", " / ");
    let section = if section.is_empty() { section } else { format!(" — {section}") };
    let version = passage.version.as_deref().map(|version| format!(" (v{})", version.trim_start_matches(['v', 'V'])));
    format!("{}{section} — {}{}", passage.title, passage.file, version.unwrap_or_default())
}

/// Returns the list of sources, with the empty line above it.
pub(super) fn block(heading: &str, passages: &[Passage]) -> String {
    let mut lines: Vec<String> = passages.iter().map(|passage| format!("\n- {}", citation(passage))).collect();
    lines.dedup();
    format!("\n\n{heading}{}", lines.concat())
}

/// Removes lists of sources from a model's reply.
pub(super) fn without_lists(deltas: Deltas, headings: &[String]) -> Deltas {
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
/// result does not depend on how the reply is cut into packets. It holds back the beginning of a line that may be a heading.
struct ListFilter {
    /// Folded.
    headings: Vec<String>,
    /// The beginning of what may be a tag.
    tag: String,
    /// The beginning of the current line while it is undecided.
    held: String,
    line: Line,
    /// White space that is shown before the next visible character.
    space: String,
    has_shown: bool,
    shown: String,
}

/// What is known about the current line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// At its beginning. `in_list`: the lines before it belong to a list of sources.
    Begun { in_list: bool },
    /// Its text is shown.
    Shown,
    /// It belongs to a list of sources.
    Removed,
}

impl ListFilter {
    fn new(headings: &[String]) -> Self {
        Self {
            headings: headings.iter().map(|heading| fold(heading)).collect(),
            tag: String::new(),
            held: String::new(),
            line: Line::Begun { in_list: false },
            space: String::new(),
            has_shown: false,
            shown: String::new(),
        }
    }

    fn push(&mut self, text: &str) -> String {
        text.chars().filter(|c| *c != COPIED).for_each(|c| self.take_tag(c));
        std::mem::take(&mut self.shown)
    }

    fn finish(&mut self) -> String {
        std::mem::take(&mut self.tag).chars().for_each(|c| self.take(c));
        match self.line {
            Line::Begun { in_list } if self.is_heading(&self.held) || (in_list && is_item(&self.held)) => {}
            Line::Begun { .. } | Line::Shown => self.release(),
            Line::Removed => {}
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
            if tag == COPIED_TAG {
                self.take(COPIED);
            }
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
            (Line::Removed, '\n') => self.line = Line::Begun { in_list: true },
            (Line::Removed, _) | (Line::Shown, COPIED) => {}
            (Line::Begun { .. }, COPIED) => {
                // A line that begins with the mark of a passage is a source that the model copied.
                if self.held.chars().all(|c| MARKUP.contains(c)) {
                    self.held.clear();
                    self.line = Line::Removed;
                }
            }
            (Line::Begun { in_list }, c) => self.take_at_beginning(c, in_list),
            (Line::Shown, c) => {
                self.show(c);
                if c == '\n' {
                    self.line = Line::Begun { in_list: false };
                }
            }
        }
    }

    fn take_at_beginning(&mut self, c: char, in_list: bool) {
        if c == '\n' {
            let is_blank = self.held.trim().is_empty();
            if self.is_heading(&self.held) || (in_list && (is_blank || is_item(&self.held))) {
                self.held.clear();
                self.line = Line::Begun { in_list: true };
            } else {
                self.release();
                self.show(c);
                self.line = Line::Begun { in_list: false };
            }
            return;
        }
        self.held.push(c);
        if self.begins_list(&self.held) || (in_list && is_item(&self.held)) {
            self.held.clear();
            self.line = Line::Removed;
        } else if !self.may_begin_list(&self.held, in_list) {
            self.line = Line::Shown;
            self.release();
        }
    }

    fn release(&mut self) {
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
        self.shown.push(c);
    }

    /// Whether the line is a heading with nothing after it.
    fn is_heading(&self, line: &str) -> bool {
        let line = fold(line.trim_matches(|c| MARKUP.contains(c) || c == ':'));
        self.headings.contains(&line)
    }

    /// Whether the beginning of a line is a heading with its colon.
    fn begins_list(&self, held: &str) -> bool {
        let text = without_markup(held);
        text.contains(':') && self.is_heading(text)
    }

    /// Whether more characters could make the beginning of a line the heading of a list, or an item of it.
    fn may_begin_list(&self, held: &str, in_list: bool) -> bool {
        if held.chars().count() > MOST_HELD {
            return false;
        }
        let text = without_markup(held);
        let (folded, word) = (fold(text), fold(text.trim_end_matches(|c| MARKUP.contains(c))));
        let may_number = in_list && text.chars().all(|c| c.is_ascii_digit());
        text.is_empty()
            || may_number
            || self.headings.iter().any(|heading| heading.starts_with(&folded) || *heading == word)
    }
}

/// Returns the beginning of a line from its first letter or sign.
fn without_markup(line: &str) -> &str {
    line.trim_start_matches(|c| MARKUP.contains(c) || c == ':')
}

/// Whether a line below a heading is an item of the list: it begins with a list mark, a number or a bracket.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < line.len() && number.starts_with(['.', ')']);
    let is_marked = ["- ", "* ", "• ", "– ", "— ", "["].iter().any(|mark| line.starts_with(mark));
    is_marked || is_numbered
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
            ("Sources:\n- wifi.md\n\nRestart it.", "Restart it."),
            ("Restart it.\nSources:\n- a.md\n\nIt takes a minute.", "Restart it.\nIt takes a minute."),
            ("Restart it [SOURCES] now.\n[SOURCES]", "Restart it  now."),
            ("Restart it.\n[SOURCE] Wi-Fi — LEDs — wifi.md (v2)\n", "Restart it."),
            ("Restart it.\n[SOURCES]\n- wifi.md", "Restart it.\n\n- wifi.md"),
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
            text in "(Restart it|\\*\\*Sources:\\*\\*|Źródła|Sources|sources of|\\[SOURCES?\\]|\\[|- wifi\\.md|1\\. |: | |\n|\n\n){0,14}",
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
        }
    }
}

//! Blocks of text as passages of moderate size.

/// The most characters of a passage: a few paragraphs, some 300 tokens of Vietnamese. Small enough that eight of them
/// fit into a prompt, large enough to hold an answer with its condition.
pub const MAX_CHARS: usize = 900;

/// Packs blocks, in order, into passages of at most `max` characters. A block that is too long by itself is cut at its lines, else
/// at the ends of its sentences, else at its spaces, else anywhere.
pub fn pack(blocks: &[String], max: usize) -> Vec<String> {
    let mut packed = Packing { max, ..Packing::default() };
    for block in blocks {
        packed.add(block, "\n\n", &["\n", ". ", " ", ""]);
    }
    packed.done.extend(Some(packed.open).filter(|open| !open.is_empty()));
    packed.done
}

#[derive(Default)]
struct Packing {
    max: usize,
    done: Vec<String>,
    open: String,
}

impl Packing {
    fn add(&mut self, text: &str, separator: &str, finer: &[&str]) {
        let text = text.trim_end();
        let length = text.chars().count();
        if length > self.max && !finer.is_empty() {
            self.add_cut(text, separator, finer);
        } else if self.open.is_empty() {
            text.clone_into(&mut self.open);
        } else if self.open.chars().count() + separator.len() + length <= self.max {
            self.open.push_str(separator);
            self.open.push_str(text);
        } else {
            self.done.push(std::mem::replace(&mut self.open, text.to_owned()));
        }
    }

    fn add_cut(&mut self, text: &str, separator: &str, finer: &[&str]) {
        let (cut, finer) = (finer[0], &finer[1..]);
        // A block that must be cut begins a passage of its own, so that its parts stay together.
        if separator == "\n\n" && !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
        if cut.is_empty() {
            for c in text.chars() {
                self.add(c.encode_utf8(&mut [0; 4]), "", &[]);
            }
            return;
        }
        let glue = if cut == "\n" { "\n" } else { " " };
        for part in text.split_inclusive(cut) {
            self.add(part, glue, finer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(blocks: &[&str], max: usize) -> Vec<String> {
        pack(&blocks.iter().map(ToString::to_string).collect::<Vec<_>>(), max)
    }

    #[test]
    fn blocks_are_packed_in_order_and_cut_where_it_hurts_least() {
        assert_eq!(packed(&[], 10), [""; 0]);
        assert_eq!(packed(&["đây là", "hai"], 11), ["đây là\n\nhai"]);
        assert_eq!(packed(&["đây là", "hai"], 10), ["đây là", "hai"]);
        assert_eq!(packed(&["x", "- one\n- two\n- three"], 12), ["x", "- one\n- two", "- three"]);
        assert_eq!(packed(&["One two. Three four. Five."], 17), ["One two.", "Three four. Five."]);
        assert_eq!(packed(&["aaaa bbbb cccc"], 9), ["aaaa bbbb", "cccc"]);
        assert_eq!(packed(&["đđđđđ"], 2), ["đđ", "đđ", "đ"]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_long(blocks in proptest::collection::vec("[a-zđ \\.\n]{0,60}", 0..6), max in 1usize..40) {
            let passages = pack(&blocks, max);
            let bare = |texts: &[String]| texts.concat().replace([' ', '\n'], "");
            proptest::prop_assert_eq!(bare(&passages), bare(&blocks));
            proptest::prop_assert!(passages.iter().all(|passage| passage.chars().count() <= max));
        }
    }
}

//! Splits a text into tokens for the parser of numbers.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::text::is_invisible;

/// A piece of a comparable text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// ASCII digits.
    Digits,
    /// Letters of any script, in lower case.
    Word,
    /// One space or more.
    Space,
    /// The end of a line.
    Line,
    /// Any other character, and digits that stand for no whole number (`½`, `Ⅳ`).
    Mark,
}

/// A token with its place in the original text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    pub range: Range<usize>,
}

/// The tokens of a text, in lower case, with compatibility forms and digits of any script as plain ones.
///
/// What a reader does not see is left out, so that it hides nothing: zero-width characters, soft hyphens, marks on digits,
/// and the signs of Markdown's emphasis.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((start, c)) = letters.next() {
        // The character with its marks, if it has any.
        let mut cluster: Option<String> = None;
        let mut end = start + c.len_utf8();
        while let Some((at, mark)) = letters.next_if(|(_, mark)| is_combining_mark(*mark) || is_unseen(*mark)) {
            if !is_unseen(mark) {
                cluster.get_or_insert_with(|| c.into()).push(mark);
                end = at + mark.len_utf8();
            }
        }
        let struck_out = c == '~' && (text[..start].ends_with('~') || text[end..].starts_with('~'));
        if is_unseen(c) || struck_out {
            continue;
        }
        // NFKC does not change ASCII.
        if c.is_ascii() && cluster.is_none() {
            push(&mut tokens, c.to_ascii_lowercase(), start..end);
            continue;
        }
        let mut cluster = cluster.unwrap_or_else(|| c.into());
        // The frame of an emoji digit, which models use to number a list.
        let framed = cluster.ends_with('\u{20e3}');
        if digit(c).is_some() {
            cluster.truncate(c.len_utf8());
        }
        let seen = cluster.nfkc().flat_map(char::to_lowercase).chain(framed.then_some(')'));
        seen.for_each(|c| push(&mut tokens, c, start..end));
    }
    tokens
}

fn push(tokens: &mut Vec<Token>, c: char, range: Range<usize>) {
    let (kind, c) = match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => (Kind::Line, '\n'),
        c if c.is_whitespace() => (Kind::Space, ' '),
        c => match digit(c) {
            Some(digit) => (Kind::Digits, digit),
            None if c.is_alphabetic() && !c.is_numeric() => (Kind::Word, c),
            None => (Kind::Mark, plain_mark(c)),
        },
    };
    match tokens.last_mut() {
        Some(last) if last.kind == kind && kind != Kind::Mark => {
            last.range.end = range.end;
            if kind != Kind::Space && kind != Kind::Line {
                last.text.push(c);
            }
        }
        _ => tokens.push(Token { kind, text: c.into(), range }),
    }
}

/// The many forms of one sign as the plainest.
fn plain_mark(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{2043}' => '-',
        '’' | '‘' | '′' => '\'',
        '٫' | '·' => '.',
        '٬' | '、' => ',',
        '∕' | '⁄' => '/',
        c => c,
    }
}

/// Whether a character leaves no trace on the page, or only emphasis.
pub fn is_unseen(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '\\') || is_invisible(c)
}

/// The digit of any script as an ASCII one.
pub(super) fn digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    if !c.is_numeric() {
        return None;
    }
    // NFKC knows full-width, superscript and mathematical digits.
    let mut plain = c.nfkc();
    if let (Some(plain), None) = (plain.next().filter(char::is_ascii_digit), plain.next()) {
        return Some(plain);
    }
    // The others come in runs of ten, zero first, with no number right before the run.
    let script = (0..10_u32).find(|back| {
        let before = u32::from(c).checked_sub(back + 1).and_then(char::from_u32);
        before.is_none_or(|before| !before.is_numeric())
    })?;
    let run_is_whole = (0..10).all(|place| {
        char::from_u32(u32::from(c) - script + place)
            .is_some_and(|digit| digit.is_numeric() && digit.nfkc().eq([digit]))
    });
    run_is_whole.then(|| char::from_digit(script, 10))?
}

//! Where a number ends, for a caller that parses a text word by word.

use super::Lexicon;
use super::lexicon::Role;
use super::normal::{Kind, tokens};

/// What a word is to the numbers around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is a number, or may begin one.
    Number { ends: bool },
    /// Can continue the number before it: a unit, "đến", a month.
    Joining { ends: bool },
    /// A number before it has ended.
    Outside,
}

/// What a word (a run without spaces) is to the numbers around it. `ends`: no number continues after it, since a sentence
/// or a bracket ends there.
pub fn place_of(word: &str, lexicon: &Lexicon) -> Place {
    let tokens = tokens(word);
    let ends = tokens.last().is_some_and(|last| {
        last.kind == Kind::Mark && matches!(last.text.as_str(), "." | "!" | "?" | ";" | ":" | ")" | "]" | "…")
    });
    let numeric = |text: &str| text.chars().all(char::is_numeric);
    let is_number = tokens.iter().enumerate().any(|(at, token)| match token.kind {
        Kind::Digits => true,
        Kind::Word => lexicon.numbers.contains_key(&token.text) || lexicon.is(Role::Zero, &tokens, at).is_some(),
        Kind::Mark => numeric(&token.text) || matches!(token.text.as_str(), "$" | "€" | "£" | "¥" | "₫" | "+"),
        Kind::Space | Kind::Line => false,
    });
    let is_joining = || {
        tokens.iter().all(|token| match token.kind {
            Kind::Word => lexicon.may_continue(&token.text),
            _ => true,
        })
    };
    if is_number {
        Place::Number { ends }
    } else if is_joining() {
        Place::Joining { ends }
    } else {
        Place::Outside
    }
}

/// Whether a text between two numbers only joins them: spaces, signs, "đến".
pub fn only_joins(text: &str, lexicon: &Lexicon) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).all(|at| match tokens[at].kind {
        Kind::Word => lexicon.is(Role::To, &tokens, at).is_some() || lexicon.is(Role::List, &tokens, at).is_some(),
        Kind::Line | Kind::Digits => false,
        Kind::Space | Kind::Mark => true,
    })
}

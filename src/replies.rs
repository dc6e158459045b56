//! What a desk says, by key: a file of texts with variants and placeholders.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::persona::texts::{fill, placeholders};

/// A key of a desk's texts, as the file spells it.
pub trait ReplyKey: Copy + Ord + DeserializeOwned + 'static {
    /// Every key.
    const ALL: &'static [Self];

    fn as_str(self) -> &'static str;

    /// The placeholders that a variant may name.
    fn placeholders(self) -> &'static [&'static str];

    /// The placeholders that every variant names.
    fn required(self) -> &'static [&'static str] {
        &[]
    }
}

/// Declares the keys of a desk's texts. After each key come the placeholders that its text may name, then those that it must name.
macro_rules! reply_keys {
    ($(#[$doc:meta])* $vis:vis enum $keys:ident {
        $($(#[$about:meta])* $name:ident = $key:literal [$($may:literal)*] $(must [$($must:literal)*])?,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
        $vis enum $keys {
            $($(#[$about])* #[serde(rename = $key)] $name,)+
        }

        impl $crate::replies::ReplyKey for $keys {
            const ALL: &'static [Self] = &[$(Self::$name,)+];

            fn as_str(self) -> &'static str {
                match self { $(Self::$name => $key,)+ }
            }

            fn placeholders(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($may,)* $($($must,)*)?],)+ }
            }

            fn required(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($must,)*)?],)+ }
            }
        }
    };
}
pub(crate) use reply_keys;

/// The texts in one language: one or more variants for each key.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "BTreeMap<K, Variants>", bound = "K: ReplyKey")]
pub struct Replies<K> {
    variants: BTreeMap<K, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum Variants {
    One(String),
    Several(Vec<String>),
}

impl<K: Ord> From<BTreeMap<K, Variants>> for Replies<K> {
    fn from(written: BTreeMap<K, Variants>) -> Self {
        let several = |variants| match variants {
            Variants::One(text) => vec![text],
            Variants::Several(texts) => texts,
        };
        Self { variants: written.into_iter().map(|(key, variants)| (key, several(variants))).collect() }
    }
}

/// A variant names a placeholder that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text {key} has no value for {{{placeholder}}}")]
pub struct MissingValue {
    key: &'static str,
    placeholder: String,
}

impl<K: ReplyKey> Replies<K> {
    /// Returns these texts with those of `other` in place of its keys.
    pub fn overlaid(&self, other: Self) -> Self {
        let mut variants = self.variants.clone();
        variants.extend(other.variants);
        Self { variants }
    }

    /// Checks that every key has at least `least` variants, all different, and that each names the right placeholders.
    ///
    /// # Errors
    /// The first mistake, for the person who edits the file.
    pub fn check(&self, least: usize) -> Result<(), String> {
        self.check_keys(K::ALL.iter().copied(), least)
    }

    /// Like [`check`](Self::check), for some of the keys.
    pub fn check_keys(&self, keys: impl Iterator<Item = K>, least: usize) -> Result<(), String> {
        for key in keys {
            let (name, variants) = (key.as_str(), self.variants(key));
            if variants.len() < least {
                let texts = if least == 1 { "one text".to_owned() } else { format!("{least} variants") };
                return Err(format!("{name} must have at least {texts}"));
            }
            for variant in variants {
                if let Some(missing) =
                    key.required().iter().find(|name| !placeholders(variant).any(|has| has == **name))
                {
                    return Err(format!("{name} must contain {{{missing}}}"));
                }
                if let Some(unknown) = placeholders(variant).find(|name| !key.placeholders().contains(name)) {
                    let known = key.placeholders().join(", ");
                    let known = if known.is_empty() { "none" } else { &known };
                    return Err(format!(
                        "{name} names {{{unknown}}}, which is not filled in there; it may name: {known}"
                    ));
                }
            }
            if !variants.iter().all(|a| variants.iter().filter(|b| *b == a).count() == 1) {
                return Err(format!("{name} has the same variant twice"));
            }
        }
        Ok(())
    }

    /// Returns the variants of a key, in the file's order.
    pub fn variants(&self, key: K) -> &[String] {
        self.variants.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the first variant of a key, not filled in.
    pub fn template(&self, key: K) -> &str {
        self.variants(key).first().map_or("", String::as_str)
    }

    /// Returns the first variant of a key, filled in.
    ///
    /// # Errors
    /// As for [`pick`](Self::pick).
    pub fn text(&self, key: K, values: &[(&str, &str)]) -> Result<String, MissingValue> {
        self.pick(key, None, values).map(|(text, _)| text)
    }

    /// Returns the variant after `last`, filled in, and its index.
    ///
    /// # Errors
    /// The variant names a placeholder without a value. A customer never sees such a text.
    pub fn pick(&self, key: K, last: Option<usize>, values: &[(&str, &str)]) -> Result<(String, usize), MissingValue> {
        let variants = self.variants(key);
        let index = last.map_or(0, |last| last + 1) % variants.len().max(1);
        let variant = variants.get(index).map_or("", String::as_str);
        let has_value = |name: &&str| values.iter().any(|(known, _)| known == name);
        match placeholders(variant).find(|name| !has_value(name)) {
            Some(missing) => Err(MissingValue { key: key.as_str(), placeholder: missing.to_owned() }),
            None => Ok((fill(variant, values), index)),
        }
    }
}

/// Picks variants, never the same one twice in a row.
pub struct VariantPicker<'a, K> {
    replies: &'a Replies<K>,
    last: &'a BTreeMap<K, usize>,
    picked: Vec<(K, usize)>,
}

impl<'a, K: ReplyKey> VariantPicker<'a, K> {
    /// `last` is the index of each key's variant that was used last.
    pub fn new(replies: &'a Replies<K>, last: &'a BTreeMap<K, usize>) -> Self {
        Self { replies, last, picked: Vec::new() }
    }

    /// Returns the key's next variant, filled in.
    ///
    /// # Errors
    /// As for [`Replies::pick`].
    pub fn text(&mut self, key: K, values: &[(&str, &str)]) -> Result<String, MissingValue> {
        let picked = self.picked.iter().rev().find(|(of, _)| *of == key).map(|(_, index)| *index);
        let last = picked.or_else(|| self.last.get(&key).copied());
        let (text, index) = self.replies.pick(key, last, values)?;
        self.picked.push((key, index));
        Ok(text)
    }

    /// Returns the variants that were picked, for the conversation's state.
    pub fn used(self) -> Vec<(K, usize)> {
        self.picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    reply_keys! {
        enum Key {
            Hello = "hello" ["name"],
            Until = "until" ["name"] must ["date"],
        }
    }

    fn replies(text: &str) -> Result<Replies<Key>, String> {
        let replies: Replies<Key> = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        replies.check(1).map(|()| replies)
    }

    #[test]
    fn text_may_have_one_or_several_variants() {
        let replies = replies("hello = [\"Hi {name}\", \"Hey\"]\nuntil = \"until {date}\"").expect("valid");
        assert_eq!(replies.text(Key::Until, &[("date", "May")]).as_deref(), Ok("until May"));
        assert_eq!(replies.pick(Key::Hello, Some(1), &[("name", "An")]), Ok(("Hi An".to_owned(), 0)));
    }

    #[test]
    fn missing_texts_and_placeholders_are_reported() {
        for (text, hint) in [
            ("hello = \"Hi\"", "until must have at least one text"),
            ("hello = \"Hi\"\nuntil = \"then\"", "until must contain {date}"),
            ("hello = \"Hi {nam}\"\nuntil = \"{date}\"", "hello names {nam}"),
            ("hallo = \"Hi\"", "unknown variant `hallo`"),
        ] {
            let error = replies(text).expect_err(hint);
            assert!(error.contains(hint), "{text}: {error}");
        }
    }
}

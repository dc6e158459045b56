//! What a desk says, by key: a file of texts with variants and placeholders.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::persona::texts::fill;

/// A key of a desk's texts, as the file spells it.
pub trait ReplyKey: Copy + Ord + DeserializeOwned + 'static {
    /// Every key.
    const ALL: &'static [Self];

    fn as_str(self) -> &'static str;

    /// The placeholders that a variant may name.
    fn placeholders(self) -> &'static [&'static str];
}

/// The texts in one language: some variants for each key.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent, bound = "K: ReplyKey")]
pub struct Replies<K> {
    variants: BTreeMap<K, Vec<String>>,
}

/// A variant names a placeholder that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text {key} has no value for {{{placeholder}}}")]
pub struct MissingValue {
    key: &'static str,
    placeholder: String,
}

impl<K: ReplyKey> Replies<K> {
    /// Checks that every key has at least `least` variants, all different, and that no variant names an unknown placeholder.
    ///
    /// # Errors
    /// The first mistake, for the person who edits the file.
    pub fn check(&self, least: usize) -> Result<(), String> {
        for key in K::ALL {
            let (name, variants) = (key.as_str(), self.variants(*key));
            if variants.len() < least {
                return Err(format!("{name} must have at least {least} variants"));
            }
            for variant in variants {
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

/// Returns the names in braces.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

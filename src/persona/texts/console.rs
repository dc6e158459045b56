use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The texts as they come with frontdesk: what a shop's own files must hold.
const DISTRIBUTED: &str = include_str!("../../../prompts/texts/console.en.toml");
/// A text with this ending stands where a count is one. Not every language needs it.
const FOR_ONE: &str = "_one";

/// What the console says in one language: `texts/console.{language}.toml`. A text's key is its table and its name
/// (`inbox.title`). The page gets them all, since it changes the language while it is open.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "toml::Table")]
pub struct ConsoleTexts(BTreeMap<String, String>);

impl ConsoleTexts {
    /// The text of `key`; empty where there is none, which the check rules out for every key that we distribute.
    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// That every text is there, with a place for whatever must stand in it, and none that nothing says.
    pub fn check(&self) -> Result<(), String> {
        let ours: Self = toml::from_str(DISTRIBUTED).map_err(|error| error.to_string())?;
        for (key, text) in &ours.0 {
            match self.0.get(key) {
                None if key.ends_with(FOR_ONE) => {}
                None => return Err(format!("{key} is missing: take it from the distribution's file")),
                Some(own) => {
                    if let Some(place) = places(text).find(|place| !own.contains(place)) {
                        return Err(format!("{key} must contain {place}"));
                    }
                }
            }
        }
        match self.0.keys().find(|key| !ours.0.contains_key(*key)) {
            Some(unknown) => Err(format!("{unknown} is no text of the console: remove it, or fix its name")),
            None => Ok(()),
        }
    }
}

/// The places of a text, as `{name}`.
fn places(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(start, _)| {
        let rest = &text[start..];
        rest.find('}').map(|end| &rest[..=end])
    })
}

impl TryFrom<toml::Table> for ConsoleTexts {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for (name, value) in table {
            match value {
                toml::Value::String(text) => drop(texts.insert(name, text)),
                toml::Value::Table(inner) => {
                    for (key, value) in inner {
                        let text = value.as_str().ok_or_else(|| format!("{name}.{key} must be a text"))?;
                        texts.insert(format!("{name}.{key}"), text.to_owned());
                    }
                }
                _ => return Err(format!("{name} must be a text")),
            }
        }
        Ok(Self(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(change: impl Fn(String) -> String) -> Result<(), String> {
        toml::from_str::<ConsoleTexts>(&change(DISTRIBUTED.to_owned())).unwrap().check()
    }

    #[test]
    fn a_text_that_is_missing_unknown_or_lacks_its_place_is_named() {
        let vietnamese = include_str!("../../../prompts/texts/console.vi.toml");
        assert_eq!(texts(|_| vietnamese.to_owned()), Ok(()));
        let missing = texts(|ours| ours.replacen("skip = ", "skips = ", 1)).unwrap_err();
        assert!(missing.starts_with("skip is missing"), "{missing}");
        let unknown = texts(|ours| ours.replacen("skip = ", "more = \"x\"\nskip = ", 1)).unwrap_err();
        assert!(unknown.starts_with("more is no text"), "{unknown}");
        let placeless = texts(|ours| ours.replacen("Customer {id}", "Customer", 1)).unwrap_err();
        assert_eq!(placeless, "inbox.customer must contain {id}");
        assert_eq!(
            texts(|ours| ours.replacen("passages_one = \"1 section\"\n", "", 1)),
            Ok(()),
            "not every language has one"
        );
    }
}

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::placeholders;

/// The distributed texts, which define the required keys and placeholders.
const CHAT: &str = include_str!("../../../prompts/texts/page.en.toml");
const CONSOLE: &str = include_str!("../../../prompts/texts/console.en.toml");
/// The suffix of singular texts, which are optional.
const FOR_ONE: &str = "_one";

/// The texts of a page in one language: of the chat page and its widget from `texts/page.{language}.toml`, or of the console from
/// `texts/console.{language}.toml`. The files document each text. A key is table and name, such as `inbox.title`.
///
/// A page receives the texts of all languages, since it can switch while it is open.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "toml::Table")]
pub struct PageTexts(BTreeMap<String, String>);

impl PageTexts {
    /// Returns the text of `key`. The checks guarantee that it exists for every distributed key.
    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// Checks that there are the distributed texts of the chat page and no others, with their placeholders. They need not name the
    /// persona.
    pub fn check_chat(&self) -> Result<(), String> {
        self.check(CHAT, |key, name| name == "name" || (key, name) == ("too_long", "count"))
    }

    /// Checks that there are the distributed texts of the console and no others, with their placeholders.
    pub fn check_console(&self) -> Result<(), String> {
        self.check(CONSOLE, |_, _| false)
    }

    /// Compares the texts with the distributed ones. `may_omit` is asked for each key and placeholder.
    fn check(&self, distributed: &str, may_omit: impl Fn(&str, &str) -> bool) -> Result<(), String> {
        let ours: Self = toml::from_str(distributed).map_err(|error| error.to_string())?;
        for (key, text) in &ours.0 {
            match self.0.get(key) {
                None if key.ends_with(FOR_ONE) => {}
                None => return Err(format!("{key} is missing: copy it from the distributed file")),
                Some(own) => {
                    let has = |name: &str| placeholders(own).any(|own| own == name);
                    if let Some(name) = placeholders(text).find(|name| !has(name) && !may_omit(key, name)) {
                        return Err(format!("{key} must contain {{{name}}}"));
                    }
                }
            }
        }
        match self.0.keys().find(|key| !ours.0.contains_key(*key)) {
            Some(unknown) => Err(format!("{unknown} is not a text of this page: remove it, or fix its name")),
            None => Ok(()),
        }
    }
}

impl TryFrom<toml::Table> for PageTexts {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Self, String> {
        let mut texts = BTreeMap::new();
        for (name, value) in table {
            match value {
                toml::Value::String(text) => drop(texts.insert(name, text)),
                toml::Value::Table(inner) => {
                    for (key, value) in inner {
                        let text = value.as_str().ok_or_else(|| format!("{name}.{key} must be a string"))?;
                        texts.insert(format!("{name}.{key}"), text.to_owned());
                    }
                }
                _ => return Err(format!("{name} must be a string")),
            }
        }
        Ok(Self(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(change: impl Fn(String) -> String) -> Result<(), String> {
        toml::from_str::<PageTexts>(&change(CONSOLE.to_owned())).unwrap().check_console()
    }

    #[test]
    fn missing_unknown_and_incomplete_texts_are_reported() {
        let vietnamese = include_str!("../../../prompts/texts/console.vi.toml");
        assert_eq!(texts(|_| vietnamese.to_owned()), Ok(()));
        let missing = texts(|ours| ours.replacen("skip = ", "skips = ", 1)).unwrap_err();
        assert!(missing.starts_with("skip is missing"), "{missing}");
        let unknown = texts(|ours| ours.replacen("skip = ", "more = \"x\"\nskip = ", 1)).unwrap_err();
        assert!(unknown.starts_with("more is not a text"), "{unknown}");
        let incomplete = texts(|ours| ours.replacen("Customer {id}", "Customer", 1)).unwrap_err();
        assert_eq!(incomplete, "inbox.customer must contain {id}");
        assert_eq!(
            texts(|ours| ours.replacen("passages_one = \"1 section\"\n", "", 1)),
            Ok(()),
            "not every language has one"
        );
    }
}

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::placeholders;

/// The distributed texts, which define the required keys and placeholders.
const DISTRIBUTED: &str = include_str!("../../../prompts/texts/console.en.toml");
/// The suffix of singular texts, which are optional.
const FOR_ONE: &str = "_one";

/// The console's texts in one language, from `texts/console.{language}.toml`. A key is table and name, such as `inbox.title`. The
/// page receives the texts of all languages, since it can switch while it is open.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(try_from = "toml::Table")]
pub struct ConsoleTexts(BTreeMap<String, String>);

impl ConsoleTexts {
    /// Returns the text of `key`. [`ConsoleTexts::check`] guarantees that it exists for every distributed key.
    pub fn text(&self, key: &str) -> &str {
        self.0.get(key).map(String::as_str).unwrap_or_default()
    }

    /// Checks that every text exists with its placeholders, and that there is no unknown text.
    pub fn check(&self) -> Result<(), String> {
        let ours: Self = toml::from_str(DISTRIBUTED).map_err(|error| error.to_string())?;
        for (key, text) in &ours.0 {
            match self.0.get(key) {
                None if key.ends_with(FOR_ONE) => {}
                None => return Err(format!("{key} is missing: copy it from the distributed file")),
                Some(own) => {
                    if let Some(name) = placeholders(text).find(|name| !placeholders(own).any(|own| own == *name)) {
                        return Err(format!("{key} must contain {{{name}}}"));
                    }
                }
            }
        }
        match self.0.keys().find(|key| !ours.0.contains_key(*key)) {
            Some(unknown) => Err(format!("{unknown} is not a text of the console: remove it, or fix its name")),
            None => Ok(()),
        }
    }
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
        toml::from_str::<ConsoleTexts>(&change(DISTRIBUTED.to_owned())).unwrap().check()
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

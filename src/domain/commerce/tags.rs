//! What a shop's people note about a customer.

use serde::{Deserialize, Serialize};

use crate::domain::text::clean;

/// The most tags of a customer.
const MOST: usize = 20;
/// The most characters of a tag.
const LONGEST: usize = 40;

/// The tags of a customer, such as "wholesale": no two are the same, and none has a comma.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(Vec<String>);

/// Why tags cannot be stored.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTags {
    #[error("a tag has at most {LONGEST} characters and no comma (got {0:?})")]
    Tag(String),
    #[error("a customer has at most {MOST} tags (got {0})")]
    Count(usize),
}

impl Tags {
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for Tags {
    type Error = BadTags;

    /// Trims the tags, and leaves out repeated and empty ones.
    fn try_from(written: Vec<String>) -> Result<Self, BadTags> {
        if written.len() > MOST {
            return Err(BadTags::Count(written.len()));
        }
        let mut tags: Vec<String> = Vec::new();
        for tag in written {
            if tag.chars().count() > LONGEST || tag.contains(',') {
                return Err(BadTags::Tag(tag));
            }
            let tag = clean(&tag).trim().to_owned();
            if !tag.is_empty() && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        Ok(Self(tags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_trimmed_distinct_and_bounded() {
        let tags = |written: &[&str]| Tags::try_from(written.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(tags(&[" wholesale", "", "VIP", "wholesale "]).unwrap().as_slice(), ["wholesale", "VIP"]);
        assert_eq!(tags(&["a,b"]), Err(BadTags::Tag("a,b".to_owned())));
        assert!(tags(&[&"x".repeat(LONGEST)]).is_ok() && tags(&[&"x".repeat(LONGEST + 1)]).is_err());
        let many: Vec<String> = (0..=MOST).map(|number| number.to_string()).collect();
        assert_eq!(Tags::try_from(many), Err(BadTags::Count(MOST + 1)));
    }
}

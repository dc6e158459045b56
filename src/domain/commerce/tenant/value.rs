//! Values of a shop's settings that have rules.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::domain::string_enum::text_newtype;
use crate::domain::text::clean;

/// A text on one line, of 1 to `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label<const MAX: usize>(pub(super) String);

/// Why a text is not a [`Label`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write 1 to {0} characters on one line")]
pub struct InvalidLabel(usize);

/// How much small talk the bot answers: from 0 (none) to 3 (much).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct ChattinessLevel(pub(super) u8);

/// Why a number is not a [`ChattinessLevel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a level from 0 (no small talk) to 3 (much)")]
pub struct InvalidChattinessLevel;

/// The address of the shop's page with all goods: an http or https URL without a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CatalogLink(pub(super) String);

/// Why a text is not a [`CatalogLink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write an address such as https://shop.example/goods, without ? and #")]
pub struct InvalidCatalogLink;

/// The id of a message template at Twilio, such as `HXb5b62575e6e4ff6129ad7c8efe1f983e`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentSid(String);

/// Why a text is not a [`ContentSid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write the id of a content template, which starts with HX and has 32 hexadecimal digits after it")]
pub struct InvalidContentSid;

impl FromStr for ContentSid {
    type Err = InvalidContentSid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let digits = text.strip_prefix("HX").ok_or(InvalidContentSid)?;
        let is_id = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidContentSid) }
    }
}

text_newtype!(ContentSid, Display);

/// Whether the address names a user or a password.
pub(in crate::domain::commerce) fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

impl<const MAX: usize> FromStr for Label<MAX> {
    type Err = InvalidLabel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = clean(text);
        let text = text.trim();
        if (1..=MAX).contains(&text.chars().count()) && !text.contains('\n') {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLabel(MAX))
        }
    }
}

text_newtype!(Label<MAX> [const MAX: usize], Display);

impl FromStr for CatalogLink {
    type Err = InvalidCatalogLink;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidCatalogLink)?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && !has_user(&url);
        match ["http", "https"].contains(&url.scheme()) && url.has_host() && is_plain {
            true => Ok(Self(url.to_string())),
            false => Err(InvalidCatalogLink),
        }
    }
}

text_newtype!(CatalogLink, Display);

impl FromStr for ChattinessLevel {
    type Err = InvalidChattinessLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map_err(|_| InvalidChattinessLevel).and_then(u8::try_into)
    }
}

impl TryFrom<u8> for ChattinessLevel {
    type Error = InvalidChattinessLevel;

    fn try_from(level: u8) -> Result<Self, Self::Error> {
        if level <= 3 { Ok(Self(level)) } else { Err(InvalidChattinessLevel) }
    }
}

impl From<ChattinessLevel> for u8 {
    fn from(level: ChattinessLevel) -> Self {
        level.0
    }
}

impl fmt::Display for ChattinessLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

//! What a message is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// A doc comment here would be shown to the model. Social talk and unclear messages are `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Shopping,
    Warranty,
    Unknown,
}

impl Intent {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shopping => "shopping",
            Self::Warranty => "warranty",
            Self::Unknown => "unknown",
        }
    }
}

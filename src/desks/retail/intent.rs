//! What a message to the retail desk is about.

use serde::{Deserialize, Serialize};

/// The desk's two branches, and neither: social talk and unclear messages are `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Shopping,
    Warranty,
    Unknown,
}

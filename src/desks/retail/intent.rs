//! What a message is about.

use schemars::JsonSchema;

use crate::domain::string_enum;

string_enum! {
    // A doc comment here would be shown to the model. Social talk and unclear messages are `Unknown`.
    #[derive(JsonSchema)]
    pub enum Intent {
        Shopping = "shopping",
        Warranty = "warranty",
        Unknown = "unknown",
    }
}

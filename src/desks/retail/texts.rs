//! What the desk says: `prompts/texts/retail.{language}.toml`.

use crate::replies::reply_keys;

reply_keys! {
    /// A situation in which the desk sends a text. Comments in the file say when each is used.
    pub(super) enum Text {
        LanguageAck = "language_ack" [],
        CuteGreeting = "cute_greeting" [],
        Clarify = "clarify" [],
        SocialRedirect = "social_redirect" [],
        PersonTold = "person_told" ["hotline"],
        WarrantyPrompt = "warranty_prompt" ["hotline"],
        WarrantyPromptInvalid = "warranty_prompt_invalid" ["hotline"],
        WarrantyFound = "warranty_found" ["hotline"] must ["name" "serial" "date"],
        WarrantyValid = "warranty_valid" ["hotline"] must ["date"],
        WarrantyExpired = "warranty_expired" ["hotline"],
        WarrantyNotFound = "warranty_not_found" ["hotline"] must ["serial"],
        WarrantyMost = "warranty_most" ["hotline"] must ["count"],
        WarrantyWait = "warranty_wait" ["minutes" "hotline"],
        ReplyIntro = "reply_intro" ["hotline"],
        ReplyQuote = "reply_quote" ["hotline"] must ["title" "text"],
        ReplyUnknown = "reply_unknown" ["hotline"],
        ReplyWhich = "reply_which" ["hotline"],
        /// For the language model.
        Instruction = "instruction" ["hotline"],
    }
}

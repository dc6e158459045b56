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
        WarrantyDays = "warranty_days" ["hotline"] must ["days"],
        WarrantyPromptSorry = "warranty_prompt_sorry" ["hotline"],
        ReplyIntro = "reply_intro" ["hotline"],
        ReplyQuote = "reply_quote" ["hotline"] must ["title" "text"],
        ReplyUnknown = "reply_unknown" ["hotline"],
        ReplyWhich = "reply_which" ["hotline"],
        ReplyNoSerial = "reply_no_serial" ["hotline"],
        ReplyOrder = "reply_order" ["hotline"],
        ReplyRestock = "reply_restock" ["hotline"],
        ReplyInstead = "reply_instead" ["hotline"],
        ReplyTotalLine = "reply_total_line" ["hotline"] must ["name" "count" "price"],
        ReplyEach = "reply_each" ["hotline"] must ["name" "count" "price" "sum"],
        ReplyTotal = "reply_total" ["hotline"] must ["sum"],
        ReplyTotalAll = "reply_total_all" ["hotline"] must ["sum"],
        ReplyFee = "reply_fee" ["hotline"] must ["fee"],
        ReplyBuildSwap = "reply_build_swap" ["hotline"] must ["name" "old" "difference"],
        ReplyUnsold = "reply_unsold" ["hotline"],
        ReplyNotSaid = "reply_not_said" ["hotline"],
        ReplyDifference = "reply_difference" ["hotline"] must ["name" "other" "difference"],
        ReplyFits = "reply_fits" ["hotline"] must ["name" "other" "value"],
        ReplyFitsNot = "reply_fits_not" ["hotline"] must ["name" "other" "value" "of_other"],
        ReplyPlans = "reply_plans" ["hotline"] must ["name" "price"],
        ReplyPlanFree = "reply_plan_free" ["hotline" "fee" "down" "loan" "interest"] must ["months" "monthly"],
        ReplyPlanFee = "reply_plan_fee" ["hotline" "down" "loan" "interest"] must ["months" "monthly" "fee"],
        ReplyPlanLoan = "reply_plan_loan" ["hotline" "fee" "all_interest"] must ["months" "monthly" "down" "loan" "interest"],
        ReplyPlansEnd = "reply_plans_end" ["hotline"],
        ReplyIntroAgain = "reply_intro_again" ["hotline"],
        ReplyAllSaid = "reply_all_said" ["hotline"],
        ReplyOtherTopics = "reply_other_topics" ["hotline"] must ["topics"],
        ReplyHotline = "reply_hotline" [] must ["hotline"],
        ReplyIntroSorry = "reply_intro_sorry" ["hotline"],
        /// For the search.
        RecordSubject = "record_subject" [],
        /// For the language model.
        Instruction = "instruction" [],
    }
}

//! The commerce desk's thresholds: which journey a message starts, which language the reply has, and how much small talk is answered.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::tenant::ChattinessLevel;
use crate::domain::string_enum::string_enum;

/// The confidence from which an intent starts its journey.
pub const ROUTE: f64 = 0.70;
/// The confidence from which one question clears up the intent.
pub const CLARIFY: f64 = 0.50;
/// The confidence from which the language of a message is spoken.
pub const SWITCH_LANGUAGE: f64 = 0.75;
/// Matches from which a vague search gets the link to the catalogue.
pub const MANY_MATCHES: usize = 50;
/// The confidence of a search below which it gets the link.
pub const LOW_CONFIDENCE: f64 = 0.5;
/// Rejected lists in a row that get the link.
pub const REJECTIONS: u8 = 2;
/// Spam messages that are answered.
const SPAM_ANSWERED: u8 = 2;
/// How long the small talk of one conversation also counts in the customer's next one.
const CASUAL_COUNTS: TimeDelta = TimeDelta::hours(24);

string_enum! {
    /// What a customer wants.
    pub enum Intent {
        SalesDiscovery = "sales_discovery",
        ProductQuestion = "product_question",
        SupportQuestion = "support_question",
        OrderStatus = "order_status",
        DiscountsOffers = "discounts_offers",
        PreferencesConsent = "preferences_consent",
        PaymentHelp = "payment_help",
        HumanRequest = "human_request",
        SpamCasual = "spam_casual",
        Unknown = "unknown",
    }
}

string_enum! {
    /// The part of the desk that answers.
    #[derive(Default)]
    pub enum Journey {
        Sales = "sales",
        Support = "support",
        Orders = "orders",
        Offers = "offers",
        Prefs = "prefs",
        Governance = "governance",
        Handoff = "handoff",
        #[default]
        Unknown = "unknown",
    }
}

impl Intent {
    pub fn journey(self) -> Journey {
        match self {
            Self::SalesDiscovery | Self::ProductQuestion => Journey::Sales,
            Self::SupportQuestion => Journey::Support,
            Self::OrderStatus | Self::PaymentHelp => Journey::Orders,
            Self::DiscountsOffers => Journey::Offers,
            Self::PreferencesConsent => Journey::Prefs,
            Self::HumanRequest => Journey::Handoff,
            Self::SpamCasual => Journey::Governance,
            Self::Unknown => Journey::Unknown,
        }
    }
}

/// What follows from an intent and its confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    Journey(Journey),
    /// One question clears it up.
    Clarify,
    Unknown,
}

/// Decides who answers.
pub fn route(intent: Intent, confidence: f64) -> Routing {
    match intent {
        Intent::Unknown => Routing::Unknown,
        _ if confidence >= ROUTE => Routing::Journey(intent.journey()),
        _ if confidence >= CLARIFY => Routing::Clarify,
        _ => Routing::Unknown,
    }
}

/// Whether a detected language is spoken from now on. `mixed` is never a language.
pub fn switches_language(confidence: f64, is_allowed: bool) -> bool {
    is_allowed && confidence >= SWITCH_LANGUAGE
}

/// Whether a search shows the link to the catalogue.
pub fn needs_link(matches: usize, is_vague: bool, confidence: f64, sees_all: bool, rejections: u8) -> bool {
    sees_all || (matches >= MANY_MATCHES && is_vague) || confidence < LOW_CONFIDENCE || rejections >= REJECTIONS
}

string_enum! {
    /// What a message is to the shop.
    pub enum GovernorClass {
        Business = "business",
        Casual = "casual",
        Spam = "spam",
        Abuse = "abuse",
    }
}

/// What the governor lets a message do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Governing {
    /// The desk continues.
    Proceed,
    /// Small talk is answered.
    Chat,
    /// The customer is led back to business.
    Redirect,
    /// Nothing is said.
    Silence,
    /// Nothing is said, and a person looks at the conversation.
    Report,
}

/// Messages of each class that were answered since the last business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Governed {
    pub casual: u8,
    pub spam: u8,
    /// The redirect was said.
    pub redirected: bool,
}

/// How many casual messages a level answers.
pub fn casual_turns(level: ChattinessLevel) -> u8 {
    match u8::from(level) {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

impl Governed {
    /// Returns what counts in the customer's next conversation, after a silence: spam and abuse until business, small talk for a day.
    pub fn after(self, silence: TimeDelta) -> Self {
        Self { casual: if silence < CASUAL_COUNTS { self.casual } else { 0 }, ..self }
    }

    /// Decides about a message, and counts it. Business forgets spam, and casual messages stay counted for the conversation.
    /// After the last answer to spam, only business is answered.
    pub fn decide(&mut self, class: GovernorClass, level: ChattinessLevel) -> Governing {
        match class {
            GovernorClass::Business => {
                (self.spam, self.redirected) = (0, false);
                Governing::Proceed
            }
            GovernorClass::Casual => {
                self.casual = self.casual.saturating_add(1);
                match self.casual <= casual_turns(level) {
                    _ if self.spam >= SPAM_ANSWERED => Governing::Silence,
                    true => Governing::Chat,
                    false => Governing::Redirect,
                }
            }
            GovernorClass::Spam => {
                self.spam = self.spam.saturating_add(1);
                if self.spam <= SPAM_ANSWERED { Governing::Redirect } else { Governing::Silence }
            }
            GovernorClass::Abuse => {
                let is_first = !self.redirected;
                self.redirected = true;
                if is_first { Governing::Report } else { Governing::Silence }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intents_are_routed_at_their_thresholds() {
        for (confidence, expected) in [
            (0.49, Routing::Unknown),
            (0.50, Routing::Clarify),
            (0.69, Routing::Clarify),
            (0.70, Routing::Journey(Journey::Sales)),
        ] {
            assert_eq!(route(Intent::SalesDiscovery, confidence), expected, "{confidence}");
        }
        assert_eq!(route(Intent::PaymentHelp, 0.9), Routing::Journey(Journey::Orders));
        assert_eq!(route(Intent::Unknown, 1.0), Routing::Unknown);
    }

    #[test]
    fn language_switches_at_its_threshold() {
        assert_eq!([0.74, 0.75].map(|confidence| switches_language(confidence, true)), [false, true]);
        assert!(!switches_language(1.0, false));
    }

    #[test]
    fn link_is_shown_at_its_thresholds() {
        assert_eq!([49, 50].map(|matches| needs_link(matches, true, 1.0, false, 0)), [false, true]);
        assert!(!needs_link(50, false, 1.0, false, 0));
        assert_eq!([0.49, 0.5].map(|confidence| needs_link(1, false, confidence, false, 0)), [true, false]);
        assert_eq!([1, 2].map(|rejections| needs_link(1, false, 1.0, false, rejections)), [false, true]);
        assert!(needs_link(1, false, 1.0, true, 0));
    }

    #[test]
    fn each_level_treats_each_class() {
        use Governing::{Chat, Proceed, Redirect, Report, Silence};
        for (level, class, expected) in [
            (0_u8, GovernorClass::Business, [Proceed; 6]),
            (0, GovernorClass::Casual, [Redirect; 6]),
            (0, GovernorClass::Spam, [Redirect, Redirect, Silence, Silence, Silence, Silence]),
            (0, GovernorClass::Abuse, [Report, Silence, Silence, Silence, Silence, Silence]),
            (1, GovernorClass::Business, [Proceed; 6]),
            (1, GovernorClass::Casual, [Chat, Redirect, Redirect, Redirect, Redirect, Redirect]),
            (1, GovernorClass::Spam, [Redirect, Redirect, Silence, Silence, Silence, Silence]),
            (1, GovernorClass::Abuse, [Report, Silence, Silence, Silence, Silence, Silence]),
            (2, GovernorClass::Business, [Proceed; 6]),
            (2, GovernorClass::Casual, [Chat, Chat, Redirect, Redirect, Redirect, Redirect]),
            (2, GovernorClass::Spam, [Redirect, Redirect, Silence, Silence, Silence, Silence]),
            (2, GovernorClass::Abuse, [Report, Silence, Silence, Silence, Silence, Silence]),
            (3, GovernorClass::Business, [Proceed; 6]),
            (3, GovernorClass::Casual, [Chat, Chat, Chat, Chat, Redirect, Redirect]),
            (3, GovernorClass::Spam, [Redirect, Redirect, Silence, Silence, Silence, Silence]),
            (3, GovernorClass::Abuse, [Report, Silence, Silence, Silence, Silence, Silence]),
        ] {
            let of_level = level.try_into().expect("a level");
            let mut governed = Governed::default();
            assert_eq!(expected.map(|_| governed.decide(class, of_level)), expected, "{level} {class}");
        }
    }

    proptest! {
        // Feature: tulia-ai-v2-langgraph-refactor, Property 8: Language Policy Compliance
        #[test]
        fn unsure_or_foreign_language_is_never_spoken(confidence in 0.0..=1.0_f64, allowed: bool) {
            let switches = switches_language(confidence, allowed);
            prop_assert!(!switches || (allowed && confidence >= 0.75));
            prop_assert!(switches || !allowed || confidence < 0.75);
        }

        // Feature: tulia-ai-v2-langgraph-refactor, Property 15: Catalog Fallback Behavior
        #[test]
        fn link_follows_failed_narrowing(
            matches in 0_usize..200, vague: bool, confidence in 0.0..=1.0_f64, sees_all: bool, rejections in 0_u8..5,
        ) {
            let shown = needs_link(matches, vague, confidence, sees_all, rejections);
            let has_failed = (matches >= 50 && vague) || confidence < 0.5 || rejections >= 2;
            prop_assert_eq!(shown, has_failed || sees_all);
            // Narrowing that fails more never hides the link.
            prop_assert!(!shown || needs_link(matches + 1, vague, confidence / 2.0, sees_all, rejections + 1));
        }

        // Feature: tulia-ai-v2-langgraph-refactor, Property 9: Conversation Governance
        #[test]
        fn small_talk_and_spam_are_limited(
            level in 0_u8..=3,
            messages in prop::collection::vec((prop::sample::select(GovernorClass::ALL), prop::option::of(0_i64..48)), 0..24),
        ) {
            use Governing::{Chat, Proceed, Redirect, Report, Silence};
            let of_level = level.try_into().expect("a level");
            let (mut governed, mut casual, mut spam, mut abuse) = (Governed::default(), 0, 0, 0);
            // Some messages begin another conversation of the customer, so many hours later.
            for (class, hours) in messages {
                if let Some(hours) = hours {
                    governed = governed.after(TimeDelta::hours(hours));
                    casual = if hours < 24 { casual } else { 0 };
                }
                let expected = match class {
                    GovernorClass::Business => {
                        (spam, abuse) = (0, 0);
                        Proceed
                    }
                    GovernorClass::Spam => {
                        spam += 1;
                        if spam <= 2 { Redirect } else { Silence }
                    }
                    GovernorClass::Casual => {
                        casual += 1;
                        match casual <= [0, 1, 2, 4][usize::from(level)] {
                            _ if spam >= 2 => Silence,
                            true => Chat,
                            false => Redirect,
                        }
                    }
                    GovernorClass::Abuse => {
                        abuse += 1;
                        if abuse == 1 { Report } else { Silence }
                    }
                };
                prop_assert_eq!(governed.decide(class, of_level), expected, "{} at {}", class, level);
            }
        }
    }
}

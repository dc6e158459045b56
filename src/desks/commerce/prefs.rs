//! The preferences journey: what a customer receives, and in which language.

use super::advance::Next;
use super::effect::{Effect, Incoming, Line};
use super::rules::Says;
use super::state::ConversationState;
use super::texts::Text;
use crate::store::shoppers::PreferenceChange;

/// Starts with a wish about messages or the language.
pub(super) fn start(state: ConversationState, incoming: &Incoming) -> Next {
    let said = &incoming.said;
    let wish = |on: Says, off: Says| match (said.says(on), said.says(off)) {
        (_, true) => Some(false),
        (true, false) => Some(true),
        (false, false) => None,
    };
    let marketing = wish(Says::MarketingOn, Says::MarketingOff);
    let notifications = wish(Says::NotificationsOn, Says::NotificationsOff);
    if marketing.is_none() && notifications.is_none() {
        return (state, vec![Effect::Say(Line::Plain(Text::AskPreference))]);
    }
    let change = PreferenceChange::Set { language: None, marketing, notifications };
    (state, vec![Effect::ChangePreferences(change)])
}

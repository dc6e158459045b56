//! Short questions about what the conversation is about: "which carrier?", "why not?", "when does it come?".

use super::Topic;
use super::file::AsideLists;
use crate::dialogue::Act;
use crate::domain::text::{TokenStream, any_match};

impl AsideLists {
    /// Returns what a question asks about. "I thought it was 30 days" asks without being one, and "cancel the first one" may be none.
    pub(super) fn facts(&self, stream: &TokenStream<'_>, has_question: bool) -> Vec<Act<Topic>> {
        // A reason and a window are known only in some conversations, so the examples may understand such a question in another way.
        let lists = [
            (Act::Mention(Topic::Window), &self.window, true),
            (Act::Mention(Topic::FirstOrder), &self.first_order, true),
            (Act::Mention(Topic::Reason), &self.reason, has_question),
            (Act::Ask(Topic::Arrival), &self.arrival, has_question && !any_match(&self.no_arrival, stream, &[])),
            (Act::Ask(Topic::Tracking), &self.tracking, has_question),
            (Act::Ask(Topic::Changes), &self.changes, has_question),
            (Act::Ask(Topic::Assortment), &self.assortment, has_question),
        ];
        let matching = lists.into_iter().filter(|(_, patterns, counts)| *counts && any_match(patterns, stream, &[]));
        matching.map(|(act, ..)| act).collect()
    }
}

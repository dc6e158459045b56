//! Short questions about what the conversation is about: "which carrier?", "why not?", "when does it come?".

use super::Topic;
use super::file::AsideFile;
use crate::dialogue::Act;
use crate::domain::text::{InvalidPattern, Lexicon, Pattern, TokenStream, any_match};

/// The lists of the rule file, which explains each, with what a question that matches one does.
#[derive(Debug)]
pub(super) struct FactRules {
    lists: Vec<(Act<Topic>, Vec<Pattern>)>,
    no_arrival: Vec<Pattern>,
}

impl FactRules {
    pub fn new(file: &AsideFile, lexicon: &Lexicon) -> Result<Self, InvalidPattern> {
        // A reason and a window are known only in some conversations, so the examples may understand such a question in another way.
        let lists = [
            (Act::Mention(Topic::Reason), &file.reason),
            (Act::Mention(Topic::Window), &file.window),
            (Act::Ask(Topic::Arrival), &file.arrival),
            (Act::Ask(Topic::Tracking), &file.tracking),
            (Act::Ask(Topic::Changes), &file.changes),
            (Act::Ask(Topic::Assortment), &file.assortment),
        ];
        let lists = lists.into_iter().map(|(act, written)| Ok((act, lexicon.patterns(written)?)));
        Ok(Self { lists: lists.collect::<Result<_, _>>()?, no_arrival: lexicon.patterns(&file.no_arrival)? })
    }

    /// Returns what a question asks about.
    pub fn find(&self, stream: &TokenStream<'_>) -> Vec<Act<Topic>> {
        let matching = self.lists.iter().filter(|(_, patterns)| any_match(patterns, stream, &[]));
        let is_meant = |act: &Act<Topic>| *act != Act::Ask(Topic::Arrival) || !any_match(&self.no_arrival, stream, &[]);
        matching.map(|(act, _)| *act).filter(is_meant).collect()
    }
}

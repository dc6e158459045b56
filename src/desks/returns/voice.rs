//! The desk's words in one language, no variant twice in a row.

use std::collections::BTreeMap;

use super::advance::Event;
use super::scenario::Scenario;
use super::texts::ReturnsTexts;
use crate::desks::DeskError;

/// Picks variants, and remembers which.
pub(super) struct Voice<'a> {
    pub texts: &'a ReturnsTexts,
    last: &'a BTreeMap<Scenario, usize>,
    said: Vec<(Scenario, usize)>,
}

impl<'a> Voice<'a> {
    /// `last` is the variant of each text that was said before.
    pub fn new(texts: &'a ReturnsTexts, last: &'a BTreeMap<Scenario, usize>) -> Self {
        Self { texts, last, said: Vec::new() }
    }

    /// The scenario's next variant, filled in.
    pub fn text(&mut self, scenario: Scenario, values: &[(&str, &str)]) -> Result<String, DeskError> {
        let said = self.said.iter().rev().find(|(of, _)| *of == scenario).map(|(_, place)| *place);
        let last = said.or_else(|| self.last.get(&scenario).copied());
        let (text, place) =
            self.texts.say(scenario, last, values).map_err(|missing| DeskError::Text(missing.to_string()))?;
        self.said.push((scenario, place));
        Ok(text)
    }

    /// Which variants were said.
    pub fn said(self) -> Vec<(Scenario, usize)> {
        self.said
    }

    /// The event, and which variants were said on the way to it.
    pub fn then(self, event: Event) -> Event {
        Event::Spoke(self.said, Box::new(event))
    }
}

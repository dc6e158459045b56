//! The desk's words in one language, no variant twice in a row.

use std::collections::BTreeMap;

use super::advance::Event;
use super::scenario::Scenario;
use super::texts::ReturnsTexts;
use crate::replies::{MissingValue, VariantPicker};

/// Picks variants, and remembers which.
pub(super) struct Voice<'a> {
    pub texts: &'a ReturnsTexts,
    picker: VariantPicker<'a, Scenario>,
}

impl<'a> Voice<'a> {
    /// `last` is the variant of each text that was used last.
    pub fn new(texts: &'a ReturnsTexts, last: &'a BTreeMap<Scenario, usize>) -> Self {
        Self { texts, picker: VariantPicker::new(&texts.replies, last) }
    }

    /// Returns the scenario's next variant, filled in.
    pub fn text(&mut self, scenario: Scenario, values: &[(&str, &str)]) -> Result<String, MissingValue> {
        self.picker.text(scenario, values)
    }

    /// Returns which variants were picked.
    pub fn said(self) -> Vec<(Scenario, usize)> {
        self.picker.into_picked()
    }

    /// Returns the event with the variants that were picked before it.
    pub fn then(self, event: Event) -> Event {
        Event::Spoke(self.said(), Box::new(event))
    }
}

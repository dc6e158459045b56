//! Writes text that has passed the guards.

use serde_json::json;

use super::{SinkClosed, Turn};
use crate::domain::{Kind, Sender};
use crate::grounding::{Guard, Piece, Sources};

impl Turn {
    /// Writes pieces of a guarded reply. Each removal is counted, noted in the receipt, and reported with a `guard` event.
    pub async fn show(&mut self, kind: Kind, pieces: Vec<Piece>) -> Result<(), SinkClosed> {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.write(kind, &text).await?,
                Piece::Guard(Guard { reason, kind, text }) => {
                    metrics::counter!("frontdesk_guards_total", "reason" => reason.as_str()).increment(1);
                    self.note_one_more("guards", json!({ "reason": reason, "kind": kind, "text": text }));
                    self.guard(reason).await?;
                }
            }
        }
        Ok(())
    }

    /// Returns the sources of every reply: the persona, the customer's messages, and earlier answers that no model is known to have
    /// worded. A desk adds its passages and results.
    pub fn sources(&self) -> Sources<'_> {
        let persona = self.persona.text.as_str();
        let mut sources = Sources { shop: vec![persona], instructions: vec![persona], ..Sources::default() };
        let (own, greeting) = (self.language(), self.persona.first_language());
        sources.shop.extend([self.persona.greeting(own), self.persona.greeting(greeting)]);
        sources.shop.extend(self.persona.follow_up(own));
        sources.customer.push(&self.message.text);
        for message in self.history.iter().filter(|message| !message.metadata.is_worded_by_model()) {
            match (message.sender, message.metadata.kind()) {
                (Sender::User, _) => sources.customer.push(&message.text),
                // A model worded these, and may have repeated what the customer said.
                (Sender::Assistant, Some(Kind::Reply | Kind::Social)) => sources.replies.push(&message.text),
                (Sender::Assistant | Sender::Agent, _) => sources.shop.push(&message.text),
            }
        }
        sources
    }
}

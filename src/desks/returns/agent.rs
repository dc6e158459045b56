//! The returns desk in agent mode: a language model calls tools, and the server checks every decision again.
//!
//! The model runs a turn only if it is up. The state machine runs a turn in both modes if the customer wants a person, reports damage after
//! a return, declines everything, or answers one of the machine's questions. Both share one [`State`], so the machine
//! continues wherever a model stops. The machine announces every decision with the shop's texts; the model's own text is shown only
//! where nothing is decided.
//!
//! - [`tools`]: the six tools and their schemas; [`context`]: what they work on
//! - [`speaker`]: whether the desk or the model speaks at the end of a turn
//! - [`ending`]: how a turn ends
//!
//! The loop itself is [`crate::agent`]'s.

use serde_json::{Value, json};

use super::Returns;
use super::rules::{Topic, Utterance};
use super::state::{Intent, Question, State};
use crate::desks::machine::save;
use crate::desks::{DeskError, Services, Turn};
use crate::dialogue::Answer;
use crate::dialogue::agent_turn::{first_messages, run_agent};
use crate::grounding::{Canary, Grounding, GroundingRules};
use crate::persona::{Mode, PromptError, Prompts};

mod context;
mod ending;
mod speaker;
mod tools;

use context::ReturnsContext;
use speaker::DecisionWords;
use tools::tool_set;

/// The agent's name in the audit log.
const WHO: &str = "agent";

/// Texts and rules of agent mode.
pub(super) struct Agent {
    /// `prompts/returns/agent.md`.
    instructions: String,
    decision_words: DecisionWords,
    grounding: Grounding,
}

/// Returns what looks for the words of decisions, to measure its cost.
#[cfg(test)]
pub(in crate::desks) fn decision_parser(prompts: &Prompts) -> impl Fn(&str) + use<> {
    let words = DecisionWords::read(prompts).unwrap();
    move |text| {
        let _ = (words.are_in_message(text), words.are_in_reply(text));
    }
}

impl Agent {
    pub fn read(prompts: &Prompts) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let instructions = prompts.text("returns/agent.md")?.to_owned();
        let decision_words = DecisionWords::read(prompts)?;
        let grounding = GroundingRules::read(prompts)?;
        Ok(move |services: &Services| {
            let hosts = services.config.grounding.link_hosts.clone();
            let grounding = grounding.in_currency(services.shop.currency);
            let grounding = Grounding::new(grounding, hosts, Canary::new(rand::random()));
            Self { instructions, decision_words, grounding }
        })
    }
}

impl Returns {
    /// Returns whether the model may run this turn.
    pub(super) fn may_be_for_agent(&self, turn: &Turn, state: &State, utterance: &Utterance) -> bool {
        // The machine answers general questions and sends labels again.
        let is_machines = utterance.asks(Topic::Policy) || utterance.requests(Topic::Label);
        turn.persona.mode == Mode::Agent
            && self.services.llm.is_up()
            && !is_machines
            && !answers_machine(state, utterance)
    }

    /// Runs a turn with the model and its tools.
    pub(super) async fn play_agent(&self, turn: &mut Turn, state: State) -> Result<(), DeskError> {
        // A message is stored before its consequences happen.
        turn.stores_at_once = true;
        save(turn, &self.services.store, &state).await?;
        let known = known(&state, turn.conversation.user_id.is_some()).to_string();
        let (config, canary) = (&self.services.config, self.agent.grounding.canary());
        let messages = first_messages(turn, &turn.history, config, canary, &self.agent.instructions, &known);
        let (step, tools) = (turn.step("agent"), tool_set());
        let mut context = ReturnsContext { desk: self, turn, state };
        let run = run_agent(&self.services.llm, &config.agent, &tools, &mut context, messages);
        let finished = step.take(run).await?;
        let ReturnsContext { turn, state, .. } = context;
        let facts: Vec<String> = std::iter::once(known).chain(finished.results).collect();
        self.end_agent_turn(turn, state, finished.outcome, &facts).await
    }
}

/// Returns what the desk knows about the conversation, without anything that the customer may not know.
fn known(state: &State, is_signed_in: bool) -> Value {
    let order = state.order().map(|order| {
        let items = order.items.iter();
        json!({
            "order_id": order.number, "status": order.status, "order_date": order.ordered_on,
            "email": order.masked_email,
            "items": items
                .map(|item| json!({ "item_id": item.line, "name": item.name, "quantity": item.quantity }))
                .collect::<Vec<_>>(),
        })
    });
    json!({
        "customer_is_signed_in": is_signed_in,
        "contact_was_given": !state.case.contact.is_needed || state.meta.contact.is_some(),
        "orders_looked_up": state.meta.opened,
        "current_order": order,
        "order_number_named": state.order_number(),
        "last_return": state.meta.last_rma,
    })
}

/// Returns whether the message answers a question of the state machine, which then does what was asked.
fn answers_machine(state: &State, utterance: &Utterance) -> bool {
    match state.open_question() {
        Some(Question::OfferCancel) => utterance.answer_to_cancel.is_some() && utterance.order().is_none(),
        Some(Question::Confirm) if state.case.intent.is_some_and(Intent::is_request) => {
            utterance.answer_to_ticket.is_some() && utterance.order().is_none()
        }
        Some(Question::Confirm | Question::OnlyReturn | Question::OnlyRefund) => {
            utterance.answer.is_some() && utterance.order().is_none()
        }
        Some(Question::ChooseAction) => {
            utterance.answer == Some(Answer::No) || utterance.intent.is_some_and(Intent::is_return)
        }
        Some(Question::MailFailed | Question::MailMissing) => {
            utterance.answer.is_some() || utterance.contact().is_some()
        }
        Some(
            Question::Matter
            | Question::OrderNumber
            | Question::OtherOrder
            | Question::Contact
            | Question::NotFound
            | Question::Locked
            | Question::Trouble,
        )
        | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::tests::sample;

    #[test]
    fn known_facts_hold_no_address() {
        let mut state = sample::found(Intent::Return);
        state.case.contact.is_needed = true;
        state.meta.contact = Some("john.doe@example.com".to_owned());
        let known = known(&state, false);
        assert!(!known.to_string().contains("john.doe"), "{known}");
        assert_eq!((&known["contact_was_given"], &known["customer_is_signed_in"]), (&json!(true), &json!(false)));
    }
}

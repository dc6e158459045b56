//! The returns desk in agent mode: a language model calls tools, and the server checks every decision again.
//!
//! The model runs a turn only if it is up. The state machine runs a turn in both modes if the customer wants a person, reports damage after
//! a return, declines everything, or answers one of the machine's questions. Both share one [`State`], so the machine
//! continues wherever a model stops. The machine announces every decision with the shop's texts; the model's own text is shown only
//! where nothing is decided.
//!
//! - [`tools`]: the six tools and their schemas; [`context`]: what they work on
//! - [`prompt`]: the system message
//! - [`speaker`]: whether the desk or the model speaks at the end of a turn
//! - [`ending`]: how a turn ends
//!
//! The loop itself is [`crate::agent`]'s.

use super::Returns;
use super::rules::{Topic, Utterance};
use super::state::{Intent, Question, State};
use crate::desks::machine::save;
use crate::desks::{DeskError, Services, Turn};
use crate::dialogue::Answer;
use crate::dialogue::agent_turn::run_agent;
use crate::dialogue::history::{room_for_history, window};
use crate::grounding::{Canary, Grounding, GroundingRules};
use crate::persona::{Mode, PromptError, Prompts};
use crate::providers::llm::ChatMessage;

mod context;
mod ending;
mod prompt;
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
        let (messages, known) = self.first_messages(turn, &state);
        let (step, tools) = (turn.step("agent"), tool_set());
        let mut context = ReturnsContext { desk: self, turn, state };
        let run = run_agent(&self.services.llm, &self.services.config.agent, &tools, &mut context, messages);
        let finished = step.take(run).await?;
        let ReturnsContext { turn, state, .. } = context;
        let facts: Vec<String> = std::iter::once(known).chain(finished.results).collect();
        self.end_agent_turn(turn, state, finished.outcome, &facts).await
    }

    /// Returns the system message, the conversation and the new message, and the known facts that they contain.
    fn first_messages(&self, turn: &Turn, state: &State) -> (Vec<ChatMessage>, String) {
        let known = prompt::known(state, turn.conversation.user_id.is_some()).to_string();
        let system = prompt::system(&prompt::Given {
            persona: &turn.persona,
            persona_max_chars: self.services.config.prompts.persona_max_chars,
            canary: &self.agent.grounding.canary().line(),
            instructions: &self.agent.instructions,
            language: turn.language(),
            known: &known,
            fence: &format!("{:016x}", rand::random::<u64>()),
        });
        let room = room_for_history(&self.services.config.llm, &[&system, &turn.message.text]);
        let mut messages = vec![ChatMessage::system(system)];
        messages.extend(window(&turn.history, self.services.config.desks.history_max_chars.min(room)));
        messages.push(ChatMessage::user(turn.message.text.clone()));
        (messages, known)
    }
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

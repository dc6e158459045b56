//! The returns desk in agent mode (seed 001): a language model calls tools, and the server decides again whatever matters.
//!
//! The model drives a turn only where it is up and the matter is one for it: a wish for a person, damage that is told after a
//! return, a no to everything, and answers to the machine's own questions are the machine's in both modes. Both share one
//! [`State`], so that the machine continues wherever a model stops. The machine announces every decision with the shop's
//! texts; the model's words are shown where nothing is decided.
//!
//! - [`rounds`]: what the model is let do, decided without doing it
//! - [`tools`]: the six tools and their schemas; [`mod@bench`]: what they do
//! - [`prompt`]: what the model is given
//! - [`speaker`]: whether the desk or the model speaks at the end of a turn
//! - [`words`]: removes thoughts, calls and code from the model's reply
//! - [`ending`]: how a turn ends

use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::warn;

use super::Returns;
use super::route::can_be_cancelled;
use super::rules::{Topic, Utterance};
use super::state::{Intent, Question, State};
use crate::desks::machine::save;
use crate::desks::window::{room_for_history, window};
use crate::desks::{DeskError, Services, Turn};
use crate::dialogue::Answer;
use crate::domain::AuditEntry;
use crate::domain::AuditKind;
use crate::domain::Event as TurnEvent;
use crate::grounding::claims::ClaimRules;
use crate::grounding::{Canary, Grounding};
use crate::nlu::facts::Lexicon;
use crate::persona::{Mode, PromptError, Prompts};
use crate::providers::llm::{ChatMessage, ChatRequest, LlmError, Phase, Reply, ToolSpec};

mod bench;
mod ending;
mod prompt;
mod rounds;
mod speaker;
mod tools;
pub(in crate::desks) mod words;

use bench::Bench;
use ending::Ended;
use rounds::{Next, Planned, Rounds};
use speaker::DecisionWords;
use tools::ToolError;

/// Who calls tools, in the records.
const WHO: &str = "agent";

/// What agent mode needs besides the desk.
pub(super) struct Agent {
    /// `prompts/returns/agent.md`.
    instructions: String,
    decision_words: DecisionWords,
    grounding: Grounding,
    tools: Vec<ToolSpec>,
}

impl Agent {
    pub fn read(prompts: &Prompts) -> Result<impl FnOnce(&Services) -> Self + use<>, PromptError> {
        let instructions = prompts.text("returns/agent.md")?.to_owned();
        let decision_words = DecisionWords::read(prompts)?;
        let claims = Arc::new(ClaimRules::read(prompts)?);
        let facts = prompts.toml_with("rules/facts.toml", Lexicon::from_toml)?;
        Ok(move |services: &Services| {
            let hosts = services.config.grounding.link_hosts.clone();
            let grounding = Grounding::new(facts, claims, hosts, Canary::new(rand::random()));
            Self { instructions, decision_words, grounding, tools: tools::specs() }
        })
    }
}

impl Returns {
    /// Whether the model plays this turn. `next` is the state after the message.
    pub(super) fn is_for_agent(&self, turn: &Turn, state: &State, utterance: &Utterance, next: &State) -> bool {
        if turn.persona.mode != Mode::Agent || !self.services.llm.is_up() || answers_machine(state, utterance) {
            return false;
        }
        let is_escalating = next.handoff.is_due();
        // "Never mind" ends it, and nothing is to be decided.
        let is_called_off = next.user_confirmed_order == Some(false);
        // The machine answers general questions and sends labels again.
        let is_machines = utterance.asks(Topic::Policy) || utterance.requests(Topic::Label);
        !is_escalating && !is_called_off && !is_machines
    }

    /// Plays a turn with the model and its tools.
    pub(super) async fn play_agent(&self, turn: &mut Turn, state: State) -> Result<(), DeskError> {
        // What a message says is stored before what follows from it is done.
        turn.stores_at_once = true;
        save(turn, &self.services.store, &state).await?;
        let step = turn.step("agent");
        let mut bench = Bench { desk: self, turn, state };
        let (ended, told) = step.take(self.work_in_rounds(&mut bench)).await?;
        let Bench { turn, state, .. } = bench;
        self.end_agent_turn(turn, state, ended, &told).await
    }

    /// Asks and does what is asked for, until the model has said its last word or is asked no further. Gives what it was told
    /// along the way, too: its words may stand on that.
    async fn work_in_rounds(&self, bench: &mut Bench<'_>) -> Result<(Ended, Vec<String>), DeskError> {
        let config = &self.services.config.agent;
        let until = Instant::now() + config.deadline;
        let (mut messages, known) = self.first_messages(bench.turn, &bench.state);
        let mut told = vec![known];
        let mut rounds = Rounds::new(config.rounds);
        let ended = loop {
            let tools = if rounds.offers_tools() { &self.agent.tools[..] } else { &[] };
            let reply = match self.ask(bench.turn, messages.clone(), tools, until).await? {
                Ok(reply) => Some(reply),
                Err(cause) => {
                    warn!(error = %cause, "The language model did not say what to do next");
                    bench.turn.note_model_error(cause);
                    None
                }
            };
            match rounds.next(reply) {
                Next::Say(text) => break Ended::Said(text),
                Next::GiveUp(why) => break Ended::GaveUp(why),
                Next::WithoutModel => break Ended::WithoutModel,
                Next::Call(reply, planned) => {
                    messages.push(ChatMessage::called(reply));
                    for planned in planned {
                        let result = self.call(bench, &mut rounds, &planned).await?.to_string();
                        messages.push(ChatMessage::result(planned.name, result.clone()));
                        told.push(result);
                    }
                    save(bench.turn, &self.services.store, &bench.state).await?;
                    if bench.state.eligibility.as_ref().is_some_and(can_be_cancelled) {
                        break Ended::MachinesQuestion;
                    }
                }
            }
        };
        bench.turn.note("rounds", rounds.asked());
        Ok((ended, told))
    }

    /// Asks the model once, telling the place in its queue. The inner error: nothing came of it.
    async fn ask(
        &self,
        turn: &mut Turn,
        messages: Vec<ChatMessage>,
        tools: &[ToolSpec],
        until: Instant,
    ) -> Result<Result<Reply, LlmError>, DeskError> {
        let left = || until.saturating_duration_since(Instant::now());
        let mut ticket = match self.services.llm.enter() {
            Ok(ticket) => ticket,
            Err(cause) => return Ok(Err(cause)),
        };
        let waited = timeout(left(), async {
            while let Some(position) = ticket.waiting().await {
                turn.emit(TurnEvent::Queued { position }).await?;
            }
            Ok::<(), DeskError>(())
        });
        match waited.await {
            Ok(waited) => waited?,
            Err(_) => return Ok(Err(LlmError::Timeout(Phase::Answer))),
        }
        let request = ChatRequest { messages, model: turn.persona.model.clone(), temperature: Some(0.0) };
        Ok(ticket.call(request, tools, self.services.config.agent.call.min(left())).await)
    }

    /// Makes one call, tells the world that it was made, and gives what the model is told of it.
    async fn call(&self, bench: &mut Bench<'_>, rounds: &mut Rounds, planned: &Planned) -> Result<Value, DeskError> {
        let call = match &planned.call {
            Ok(call) => call,
            Err(mistake) => {
                // Its name may be anything, so nobody is told.
                bench.turn.note_one_more("tools", json!({ "ok": false, "mistake": mistake.told()["error"] }));
                return Ok(mistake.told());
            }
        };
        let name = call.name();
        bench.turn.emit(TurnEvent::ToolStart { name: name.to_owned() }).await?;
        let began = Instant::now();
        let (ok, told) = match call.run(bench).await {
            Ok(told) => (told["success"] != false, told),
            Err(ToolError::Desk(cause)) => return Err(cause),
            Err(error) => (false, error.told()),
        };
        if ok && call.acts() {
            rounds.acted();
        }
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let recorded = json!({ "arguments": call.recorded(), "ok": ok, "error": told.get("error") });
        self.record_call(bench, name, recorded.clone()).await?;
        bench.turn.note_one_more("tools", json!({ "name": name, "call": recorded, "ms": ms }));
        bench.turn.emit(TurnEvent::ToolEnd { name: name.to_owned(), ok, ms }).await?;
        Ok(told)
    }

    async fn record_call(&self, bench: &Bench<'_>, name: &str, after: Value) -> Result<(), DeskError> {
        let entry = AuditEntry {
            kind: AuditKind::Tool,
            who: WHO.to_owned(),
            what: format!("tool.{name}"),
            before: None,
            after: Some(after),
            conversation: Some(bench.turn.conversation.id),
            order: bench.state.order.as_ref().map(|order| order.number.clone()),
            rma: bench.state.meta.last_rma.clone(),
            at: Utc::now(),
        };
        Ok(self.store_of(bench.turn).record(&entry).await?)
    }

    /// The system message, the conversation and what was said now; and the known facts that are in it.
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
        messages.extend(window(&turn.history, self.services.config.retail.history_max_chars.min(room)));
        messages.push(ChatMessage::user(turn.message.text.clone()));
        (messages, known)
    }
}

/// Whether the message answers a question that the machine has put: what is done on it is what was asked.
fn answers_machine(state: &State, utterance: &Utterance) -> bool {
    match state.open_question() {
        Some(Question::OfferCancel) => utterance.answer_to_cancel.is_some() && utterance.order().is_none(),
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

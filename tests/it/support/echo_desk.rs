//! A complete desk that repeats what the customer says: a tool, a job, a text and a console panel.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use frontdesk::agent::{Tool, ToolContext, ToolSet};
use frontdesk::channels::Announcement;
use frontdesk::desks::{ConsolePanel, Desk, DeskError, DeskFactory, OpenDesk, PanelRow, Services, Turn};
use frontdesk::dialogue::agent_turn::{AgentContext, run_agent};
use frontdesk::domain::{Kind, Language, Metadata};
use frontdesk::jobs::{Job, JobContext, JobError, LeasedJob, NewJob};
use frontdesk::persona::{PromptError, Prompts, texts::ByLanguage};
use frontdesk::providers::llm::ChatMessage;
use frontdesk::replies::{Replies, ReplyKey};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const ECHO: Kind = Kind::desk("echo");
pub struct EchoFactory;

impl DeskFactory for EchoFactory {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn load(&self, prompts: &Prompts, languages: &[Language]) -> Result<OpenDesk, PromptError> {
        let texts = ByLanguage::<Replies<EchoReply>>::load(prompts, "echo", languages)?;
        for (language, texts) in texts.iter() {
            texts.check(2).map_err(|hint| prompts.error(&format!("texts/echo.{language}.toml"), None, hint))?;
        }
        Ok(Box::new(|services| Arc::new(Echo { texts, services: services.clone() })))
    }

    fn message_kinds(&self) -> &'static [Kind] {
        &[ECHO]
    }

    fn jobs(&self) -> Vec<Arc<dyn Job>> {
        vec![Arc::new(ConfirmEcho)]
    }

    fn console_panel(&self) -> Option<ConsolePanel> {
        Some(ConsolePanel::Rows(|_, conversation| {
            let value = conversation.state["echoes"].to_string();
            Box::pin(async move { Ok(vec![PanelRow { name: "Echoes".to_owned(), value }]) })
        }))
    }
}

/// The keys of `prompts/texts/echo.LANGUAGE.toml`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EchoReply {
    Echoed,
}

impl ReplyKey for EchoReply {
    const ALL: &'static [Self] = &[Self::Echoed];

    fn as_str(self) -> &'static str {
        "echoed"
    }

    fn placeholders(self) -> &'static [&'static str] {
        &["text"]
    }
}

struct Echo {
    texts: ByLanguage<Replies<EchoReply>>,
    services: Services,
}

#[async_trait]
impl Desk for Echo {
    async fn play(&self, turn: &mut Turn) -> Result<(), DeskError> {
        let messages = vec![ChatMessage::system("Call the tool repeat."), ChatMessage::user(&turn.message.text)];
        let tools = ToolSet::default().with::<Repeat>();
        let mut context = EchoContext { turn, services: &self.services, text: None };
        run_agent(&self.services.llm, &self.services.config.agent, &tools, &mut context, messages).await?;
        let EchoContext { turn, text, .. } = context;
        let text = text.unwrap_or_else(|| turn.message.text.clone());
        let echoes = turn.state["echoes"].as_u64().unwrap_or(0);
        let last = (echoes % 2 == 1).then_some(0);
        let (reply, _) = self.texts.get(turn.language()).pick(EchoReply::Echoed, last, &[("text", &text)])?;
        turn.state = json!({ "echoes": echoes + 1 });
        Ok(turn.say(ECHO, &reply).await?)
    }
}

struct EchoContext<'a> {
    turn: &'a mut Turn,
    services: &'a Services,
    text: Option<String>,
}

impl ToolContext for EchoContext<'_> {
    type Error = DeskError;
}

impl AgentContext for EchoContext<'_> {
    fn turn(&mut self) -> &mut Turn {
        self.turn
    }
}

/// Repeats a text to the customer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Repeat {
    /// The text.
    text: String,
}

impl<'t> Tool<EchoContext<'t>> for Repeat {
    const NAME: &'static str = "repeat";
    const ACTS: bool = true;

    fn recorded(&self) -> Value {
        json!({ "length": self.text.len() })
    }

    async fn run(&self, context: &mut EchoContext<'t>) -> Result<Value, DeskError> {
        let (subject, tenant) = (context.turn.message.id.0, &context.turn.conversation.tenant);
        let conversation = Some(context.turn.conversation.id);
        let job = NewJob { name: ConfirmEcho.name(), subject, tenant, conversation, payload: None, now: Utc::now() };
        context.services.jobs.enqueue(&job).await?;
        context.text = Some(self.text.clone());
        Ok(json!({ "success": true }))
    }
}

/// Sends a message after the turn.
struct ConfirmEcho;

#[async_trait]
impl Job for ConfirmEcho {
    fn name(&self) -> &'static str {
        "confirm_echo"
    }

    async fn run(&self, context: &JobContext, job: &LeasedJob) -> Result<(), JobError> {
        let (Some(announcer), Some(id)) = (&context.announcer, job.conversation) else { return Ok(()) };
        let (text, key) = ("Your echo is stored.".to_owned(), format!("echo:{}", job.subject));
        let said = Announcement { text, metadata: Metadata::of(ECHO), key };
        announcer.announce(&job.tenant, id, said).await.map(drop).map_err(JobError::from)
    }
}

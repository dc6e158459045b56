use std::time::Duration;

use super::Env;

/// Desks that a language model drives with tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// `AGENT_ROUNDS`: model calls per turn. The last one has no tools, so that the model must answer.
    pub rounds: u32,
    /// `AGENT_CALL_SECONDS`: how long each call may take, without waiting in the queue.
    pub call: Duration,
    /// `AGENT_DEADLINE_SECONDS`: how long all calls of a turn may take, including waiting.
    pub deadline: Duration,
}

impl AgentConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        let rounds = env.number("AGENT_ROUNDS", 15);
        if rounds < 2 {
            env.refuse("AGENT_ROUNDS", "must be at least 2: one to call a tool and one to answer".to_owned());
        }
        Self {
            rounds: rounds.max(2),
            call: env.seconds("AGENT_CALL_SECONDS", 60),
            deadline: env.seconds("AGENT_DEADLINE_SECONDS", 180),
        }
    }
}

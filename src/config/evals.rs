use std::path::PathBuf;

use super::Env;

/// Conversations that are kept to be played again.
#[derive(Clone, Debug)]
pub struct EvalConfig {
    /// `EVALS_PATH`; cases of conversations stand in its folder `conversations`.
    pub folder: PathBuf,
}

impl EvalConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { folder: env.text("EVALS_PATH", "evals").into() }
    }
}

use std::path::PathBuf;

use super::Env;

/// Evaluation cases.
#[derive(Clone, Debug)]
pub struct EvalConfig {
    /// `EVALS_PATH`; its folder `conversations` contains the cases.
    pub folder: PathBuf,
}

impl EvalConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { folder: env.text("EVALS_PATH", "evals").into() }
    }
}

use super::Env;
use crate::domain::LinkHost;

/// What a reply that a language model writes is held against, besides its sources.
#[derive(Clone, Debug)]
pub struct GroundingConfig {
    /// `LINK_HOSTS`: links in a reply lead there or are taken out; none by default.
    pub link_hosts: Vec<LinkHost>,
}

impl GroundingConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { link_hosts: env.list("LINK_HOSTS", |host| host.parse().ok()) }
    }
}

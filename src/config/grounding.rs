use super::Env;
use crate::domain::LinkHost;

/// Checks of replies that a language model writes.
#[derive(Clone, Debug)]
pub struct GroundingConfig {
    /// `LINK_HOSTS`: allowed hosts of links in replies. Other links are removed, except to hosts in the sources.
    pub link_hosts: Vec<LinkHost>,
}

impl GroundingConfig {
    pub(super) fn read(env: &mut Env) -> Self {
        Self { link_hosts: env.list("LINK_HOSTS", |host| host.parse().ok()) }
    }
}

//! Checks of prompts and documents.

use std::path::Path;
use std::sync::Arc;

use crate::config::{Config, ShopConfig};
use crate::desks::{DeskRegistry, Shop};
use crate::domain::TenantId;
use crate::domain::check::Check;
use crate::persona::{Persona, PromptErrors, Prompts};
use crate::providers::email::check_sender;
use crate::retrieval::{Library, Report, SearchRules, Warning};

/// Returns the checks of every shop, and the prompts that can be read.
pub(super) fn examine(config: &Config) -> (Vec<Check>, Vec<Arc<Prompts>>) {
    let (mut checks, mut all) = (Vec::new(), Vec::new());
    let default = TenantId::default();
    for tenant in std::iter::once(&default).chain(config.shops.others()) {
        let (mut found, prompts) = examine_shop(config, &config.shop(tenant));
        if *tenant != default {
            found.iter_mut().for_each(|check| check.line = format!("shop {tenant}: {}", check.line));
        }
        checks.extend(found);
        all.extend(prompts);
    }
    checks.extend(config.tenants_without_shop().iter().map(|tenant| {
        let folder = config.shops.folder.join(tenant.as_str());
        let line = format!("shop {tenant}: no documents, since {} does not exist: create it", folder.display());
        Check::warn("knowledge", line)
    }));
    (checks, all)
}

fn examine_shop(config: &Config, shop: &ShopConfig) -> (Vec<Check>, Option<Arc<Prompts>>) {
    let prompts = match Prompts::load_shop(&config.prompts, shop) {
        Ok(prompts) => prompts,
        Err(PromptErrors { first, others }) => {
            let mistakes = std::iter::once(first).chain(others);
            return (mistakes.map(|mistake| Check::fail("prompts", mistake.to_string())).collect(), None);
        }
    };
    let mut checks = vec![match Shop::check(&DeskRegistry::built_in(), &prompts) {
        Ok(()) => Check::ok("prompts", personas(&prompts)),
        Err(mistake) => Check::fail("prompts", mistake.to_string()),
    }];
    if let Some(from) = &shop.mail_from
        && let Err(mistake) = check_sender(from)
    {
        checks.push(Check::fail("mail", format!("mail_from in shop.toml: {mistake}")));
    }
    if let Some(folder) = &shop.knowledge {
        match SearchRules::read(&prompts) {
            Err(mistake) => checks.push(Check::fail("prompts", mistake.to_string())),
            Ok(rules) => checks.extend(knowledge(config, folder, &prompts, &rules)),
        }
        let missing = prompts.missing_knowledge(folder);
        checks.extend(missing.map(|(_, missing)| Check::warn("knowledge", missing.to_string())));
    }
    (checks, Some(prompts))
}

fn personas(prompts: &Prompts) -> String {
    let shown = |persona: &Persona| {
        let languages: Vec<&str> = persona.languages.iter().map(|language| language.code()).collect();
        format!("{} ({})", persona.id, languages.join(", "))
    };
    let personas: Vec<String> = prompts.personas().map(|persona| shown(persona)).collect();
    format!("personas {}; default {}", personas.join(", "), prompts.default_persona().id)
}

/// Checks the documents that the personas search.
fn knowledge(config: &Config, folder: &Path, prompts: &Prompts, rules: &SearchRules) -> Vec<Check> {
    const NAME: &str = "knowledge";
    let shown = folder.display();
    let folders: Vec<&str> = prompts.knowledge_folders().into_iter().collect();
    let library = match Library::load(folder, folders.iter().copied(), rules, &config.knowledge.chunks) {
        Ok(library) => library,
        Err(error) => return vec![Check::fail(NAME, format!("{error}; check KNOWLEDGE_PATH"))],
    };
    let Report { documents, chunks, warnings, .. } = library.shelf_of(&folders).report;
    let mut checks = vec![match documents {
        0 => Check::warn(
            NAME,
            format!("no documents in {shown}, so replies know nothing about the shop: add Markdown, CSV or text files"),
        ),
        _ => Check::ok(NAME, format!("{documents} documents, {chunks} chunks in {shown}")),
    }];
    for Warning { file, line, problem } in warnings {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        checks.push(Check::warn(NAME, format!("{}{line}: {problem}", folder.join(file).display())));
    }
    checks
}

//! Checks of prompts and documents.

use super::Check;
use crate::config::Config;
use crate::desks::{DeskRegistry, Desks};
use crate::persona::{Persona, PromptErrors, Prompts};
use crate::retrieval::{LexicalIndex, Report, SearchRules, Warning};

/// Returns the checks, and the prompts if they can be read.
pub(super) fn examine(config: &Config) -> (Vec<Check>, Option<Prompts>) {
    let prompts = match Prompts::load_all(&config.prompts.folder, &config.prompts.persona) {
        Ok(prompts) => prompts,
        Err(PromptErrors { first, others }) => {
            let mistakes = std::iter::once(first).chain(others);
            return (mistakes.map(|mistake| Check::fail("prompts", mistake.to_string())).collect(), None);
        }
    };
    let mut checks = vec![match Desks::check(&DeskRegistry::built_in(), &prompts) {
        Ok(()) => Check::ok("prompts", personas(&prompts)),
        Err(mistake) => Check::fail("prompts", mistake.to_string()),
    }];
    match SearchRules::read(&prompts) {
        Err(mistake) => checks.push(Check::fail("prompts", mistake.to_string())),
        Ok(rules) => checks.extend(knowledge(config, &rules)),
    }
    let missing = prompts.missing_knowledge(&config.knowledge.folder);
    checks.extend(missing.map(|(_, missing)| Check::warn("knowledge", missing.to_string())));
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

fn knowledge(config: &Config, rules: &SearchRules) -> Vec<Check> {
    const NAME: &str = "knowledge";
    let folder = &config.knowledge.folder;
    let shown = folder.display();
    let index = match LexicalIndex::load(folder, rules) {
        Ok(index) => index,
        Err(error) => return vec![Check::fail(NAME, format!("{error}; check KNOWLEDGE_PATH"))],
    };
    let Report { documents, chunks, warnings, .. } = index.report();
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

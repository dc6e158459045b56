//! Parses persona files, which have optional YAML front matter, also below blank lines:
//!
//! ```text
//! ---
//! desk: retail
//! languages: [vi, en]
//! knowledge: returns
//! ---
//! Who the persona is …
//!
//! Greeting: the first message, in the persona's language
//! Greeting[en]: the same in English
//! FollowUp: the sentence after an answer | another one, so that it is not the same twice in a row
//! ```

use serde::Deserialize;

use super::{Lines, Mode, Persona, PersonaFault as Fault, PromptError};
use crate::domain::Language;
use crate::domain::language::{LanguageProfile, with_fallbacks};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    desk: Option<String>,
    languages: Option<Vec<Language>>,
    name: Option<String>,
    model: Option<String>,
    temperature: Option<f32>,
    knowledge: Option<Folders>,
    mode: Option<Mode>,
}

/// One folder, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "knowledge must be a folder's name or a list of such names")]
enum Folders {
    One(String),
    Several(Vec<String>),
}

/// The languages that the personas of a shop may speak.
pub(super) struct Spoken<'a> {
    pub profiles: &'a [LanguageProfile],
    /// Whether the shop has the file, by its path below `prompts/`.
    pub has_file: &'a dyn Fn(&str) -> bool,
}

impl Spoken<'_> {
    /// Returns the languages in which a desk has texts, or all if it has none.
    fn at(&self, desk: &str) -> Vec<Language> {
        let languages = || self.profiles.iter().map(|profile| profile.code);
        let has_texts = |language: &Language| (self.has_file)(&format!("texts/{desk}.{language}.toml"));
        let written: Vec<Language> = languages().filter(has_texts).collect();
        if written.is_empty() { languages().collect() } else { written }
    }
}

/// Parses a persona. `file` is the name in errors, `id` the file name without extension, `spoken` what a persona speaks that names
/// no language.
pub(super) fn parse(file: &str, id: &str, content: &str, spoken: &Spoken<'_>) -> Result<Persona, PromptError> {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let blank: Vec<&str> = content.split_inclusive('\n').take_while(|line| line.trim().is_empty()).collect();
    let content = &content[blank.concat().len()..];
    let in_file = |line: usize| blank.len() + line;
    let error = |line: usize, fault: Fault, hint: String| {
        let (line, fault) = (Some(in_file(line)), Some(fault));
        PromptError { file: file.to_owned(), line, hint, fault }
    };
    let (front_matter, body, first_line) = cut_front_matter(content).ok_or_else(|| {
        error(1, Fault::Unclosed, "the front matter is not closed: add a line of three hyphens after it".to_owned())
    })?;
    let front: FrontMatter = if front_matter.trim().is_empty() {
        FrontMatter::default()
    } else {
        serde_yaml_ng::from_str(front_matter).map_err(|cause| {
            let line = cause.location().map_or(1, |location| location.line());
            let hint = format!("the front matter is not valid: {}", readable(&cause.to_string()));
            error(line + 1, Fault::FrontMatter, hint)
        })?
    };
    let desk = front.desk.unwrap_or_else(|| "retail".to_owned());
    let mut languages = front.languages.unwrap_or_else(|| spoken.at(&desk));
    languages.dedup();
    if languages.is_empty() {
        let hint = "the persona has no language: name at least one, such as languages: [en]";
        return Err(error(1, Fault::NoLanguage, hint.to_owned()));
    }
    if front.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
        return Err(error(1, Fault::Temperature, "temperature must be between 0 and 2".to_owned()));
    }
    let knowledge_line = line_of_key(front_matter, "knowledge").map_or(1, |(line, _)| line);
    let mut persona = Persona {
        id: id.to_owned(),
        name: front.name.unwrap_or_else(|| id.to_owned()),
        desk,
        languages,
        model: front.model,
        temperature: front.temperature,
        mode: front.mode.unwrap_or_default(),
        knowledge: folders(front.knowledge).map_err(|(fault, hint)| error(knowledge_line, fault, hint))?,
        knowledge_place: (file.to_owned(), in_file(knowledge_line)),
        text: String::new(),
        greeting: Lines::default(),
        follow_up: Lines::default(),
    };
    let mut text = Vec::new();
    for (index, line) in body.lines().enumerate() {
        let number = first_line + index;
        if let Some((language, value)) = labelled(line, "Greeting") {
            persona.greeting.set(language, value).map_err(|(fault, hint)| error(number, fault, hint))?;
        } else if let Some((language, value)) = labelled(line, "FollowUp") {
            persona.follow_up.set(language, value).map_err(|(fault, hint)| error(number, fault, hint))?;
        } else {
            text.push(line);
        }
    }
    for lines in [&mut persona.greeting, &mut persona.follow_up] {
        lines.complete(&persona.languages, spoken.profiles);
    }
    persona.text = text.join("\n").trim().to_owned();
    let last = first_line + body.lines().count().saturating_sub(1);
    if persona.greeting.own.is_none() {
        let hint = "the persona has no greeting: add a line that starts with 'Greeting: '";
        return Err(error(last, Fault::NoGreeting, hint.to_owned()));
    }
    if persona.text.is_empty() {
        let hint = "the persona has no text: describe who it is and how it speaks";
        return Err(error(first_line, Fault::NoText, hint.to_owned()));
    }
    Ok(persona)
}

/// Removes the line number, which counts from the front matter, and names of Rust types from the parser's message.
fn readable(cause: &str) -> String {
    let text = cause.rfind(" at line ").map_or(cause, |end| &cause[..end]);
    text.replace("expected f32", "expected a number, such as 0.4").replace("expected a sequence", "expected a list")
}

/// Checks and normalizes the folders. The default is the knowledge folder itself.
fn folders(written: Option<Folders>) -> Result<Vec<String>, (Fault, String)> {
    let written = match written {
        None => return Ok(vec![String::new()]),
        Some(Folders::One(folder)) => vec![folder],
        Some(Folders::Several(folders)) => folders,
    };
    if written.is_empty() {
        let hint = "knowledge names no folder: name one, or remove the line to use the files of the knowledge folder";
        return Err((Fault::NoFolder, hint.to_owned()));
    }
    let mut folders: Vec<String> = Vec::new();
    for folder in written {
        let parts: Vec<&str> = folder.trim().trim_end_matches('/').split(['/', '\\']).collect();
        // Refuse hidden folders, `.` and `..`.
        if parts.iter().any(|part| part.trim().is_empty() || part.starts_with('.') || part.contains(':')) {
            let hint = format!(
                "knowledge names '{folder}': write a folder below the knowledge folder, such as returns, without .. and \
                 without a leading /"
            );
            return Err((Fault::BadFolder, hint));
        }
        let folder = parts.join("/");
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// Returns the line of a key of the front matter, and what follows its colon. The first line is that of the hyphens.
pub(crate) fn line_of_key<'a>(front_matter: &'a str, key: &str) -> Option<(usize, &'a str)> {
    let value = |line: &'a str| line.strip_prefix(key)?.trim_start().strip_prefix(':');
    (2..).zip(front_matter.lines()).find_map(|(number, line)| Some((number, value(line)?)))
}

impl Lines {
    /// Adds the line of the language that one without a line falls back to.
    fn complete(&mut self, languages: &[Language], profiles: &[LanguageProfile]) {
        // The line without a code is in the persona's first language.
        let written = |language: &Language| match self.others.get(language) {
            None if languages.first() == Some(language) => self.own.clone(),
            line => line.cloned(),
        };
        let line = |language: &Language| with_fallbacks(*language, profiles).iter().find_map(written);
        let missing = languages.iter().filter(|language| !self.others.contains_key(language));
        let lines: Vec<_> = missing.filter_map(|language| Some((*language, line(language)?))).collect();
        self.others.extend(lines);
    }

    fn set(&mut self, language: Option<&str>, value: &str) -> Result<(), (Fault, String)> {
        if value.is_empty() {
            let hint = "the line is empty: write the sentence after the colon, or remove the line";
            return Err((Fault::EmptyLine, hint.to_owned()));
        }
        let earlier = match language {
            None => self.own.replace(value.to_owned()),
            Some(code) => {
                let hint = || format!("'{code}' is not a language: write its code, such as en");
                let language = code.parse().map_err(|_| (Fault::UnknownLanguage, hint()))?;
                self.others.insert(language, value.to_owned())
            }
        };
        match earlier {
            Some(_) => Err((Fault::RepeatedLine, "the line is repeated: keep one".to_owned())),
            None => Ok(()),
        }
    }
}

/// Parses `Greeting: x` into (None, "x") and `Greeting[en]: x` into (Some("en"), "x").
fn labelled<'a>(line: &'a str, label: &str) -> Option<(Option<&'a str>, &'a str)> {
    let rest = line.strip_prefix(label)?;
    if let Some(value) = rest.strip_prefix(':') {
        return Some((None, value.trim()));
    }
    let (language, rest) = rest.strip_prefix('[')?.split_once(']')?;
    Some((Some(language), rest.strip_prefix(':')?.trim()))
}

/// Splits into front matter, body and the number of the body's first line. Returns `None` if the front matter is not closed.
pub(crate) fn cut_front_matter(content: &str) -> Option<(&str, &str, usize)> {
    let mut lines = content.split_inclusive('\n');
    let opening = lines.next().unwrap_or_default();
    if opening.trim_end() != "---" {
        return Some(("", content, 1));
    }
    let mut at = opening.len();
    for (index, line) in lines.enumerate() {
        if line.trim_end() == "---" {
            return Some((&content[opening.len()..at], &content[at + line.len()..], index + 3));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(file: &str, id: &str, content: &str) -> Result<Persona, PromptError> {
        let profile = |code: &str, fallback: &str| LanguageProfile {
            code: code.parse().expect("a code"),
            fallback: fallback.parse().ok(),
            ..LanguageProfile::default()
        };
        let profiles = [profile("vi", ""), profile("en", ""), profile("sw", "en"), profile("sheng", "sw")];
        let texts = ["texts/retail.vi.toml", "texts/retail.en.toml"];
        super::parse(file, id, content, &Spoken { profiles: &profiles, has_file: &|name| texts.contains(&name) })
    }

    #[test]
    fn front_matter_is_optional() {
        let persona = parse("p.md", "p", "Chatbot Persona\r\n\r\nGreeting: Chào!\r\nFollowUp: Gì nữa?\r\n").unwrap();
        assert_eq!((persona.text.as_str(), persona.desk.as_str()), ("Chatbot Persona", "retail"));
        assert_eq!(persona.greeting(Language::EN), "Chào!");
        assert_eq!(persona.follow_up(Language::VI), Some("Gì nữa?"));
        assert_eq!(persona.first_language(), Language::VI);
    }

    #[test]
    fn front_matter_names_desk_languages_and_model() {
        let file = "---\ndesk: retail\nlanguages: [en, vi]\nname: SSTC\nmodel: qwen3\ntemperature: 0.3\n---\nWho.\nGreeting: Hi\nGreeting[vi]: Chào\n";
        let persona = parse("p.md", "p", file).unwrap();
        assert_eq!(persona.languages, [Language::EN, Language::VI]);
        assert_eq!((persona.greeting(Language::VI), persona.greeting(Language::EN)), ("Chào", "Hi"));
        assert_eq!((persona.name.as_str(), persona.model.as_deref()), ("SSTC", Some("qwen3")));
        assert_eq!(persona.follow_up(Language::EN), None);
    }

    #[test]
    fn blank_lines_may_precede_front_matter() {
        for before in ["", "\n", "\u{feff}\r\n", " \n\t\n\n"] {
            let lines = before.lines().count();
            let file = format!("{before}---\ndesk: returns\nknowledge: returns\n---\nWho.\nGreeting: Hi\n");
            let persona = parse("p.md", "p", &file).unwrap();
            assert_eq!((persona.desk.as_str(), persona.text.as_str()), ("returns", "Who."), "{before:?}");
            assert_eq!(persona.knowledge_place.1, lines + 3, "{before:?}");
            for (wrong, line) in [("desk:", 2), ("Greeting: Hi", 6), ("---\nWho", 1)] {
                let error = parse("p.md", "p", &file.replace(wrong, "odd:")).unwrap_err();
                assert_eq!(error.line, Some(lines + line), "{before:?}: {error}");
            }
        }
    }

    #[test]
    fn knowledge_folders_default_to_the_top() {
        for (line, folders) in [
            ("", vec![""]),
            ("knowledge: returns/\n", vec!["returns"]),
            ("knowledge: [returns, telecom/plans, returns]\n", vec!["returns", "telecom/plans"]),
            ("knowledge:\n  - đổi trả\n", vec!["đổi trả"]),
        ] {
            let file = format!("---\ndesk: retail\n{line}---\nWho.\nGreeting: Hi\n");
            assert_eq!(parse("p.md", "p", &file).unwrap().knowledge, folders, "{line}");
        }
    }

    #[test]
    fn missing_greeting_is_that_of_the_fallback() {
        let file = "---\nlanguages: [en, sw, sheng]\n---\nWho.\nGreeting: Hi\nGreeting[sw]: Habari\nFollowUp: More?\n";
        let persona = parse("p.md", "p", file).unwrap();
        let said = |code: &str| {
            let language = code.parse().unwrap();
            (persona.greeting(language).to_owned(), persona.follow_up(language).map(str::to_owned))
        };
        assert_eq!(said("sheng"), ("Habari".to_owned(), Some("More?".to_owned())));
        assert_eq!(said("en"), ("Hi".to_owned(), Some("More?".to_owned())));
    }

    #[test]
    fn invalid_persona_is_reported_with_line_and_hint() {
        for (content, line, hint) in [
            ("---\ndesk: retail\nWho.\nGreeting: Hi\n", 1, "not closed"),
            ("---\ndesk: retail\nlangauges: [vi]\n---\nWho.\nGreeting: Hi\n", 3, "langauges"),
            ("---\nlanguages: [EN]\n---\nWho.\nGreeting: Hi\n", 2, "lower-case letters"),
            ("---\ndesk: returns\nmode: pilot\n---\nWho.\nGreeting: Hi\n", 3, "supervisor"),
            (
                "---\ndesk: retail\ntemperature: warm\n---\nWho.\nGreeting: Hi\n",
                3,
                "\"warm\", expected a number, such as 0.4",
            ),
            ("---\ntemperature: 9\n---\nWho.\nGreeting: Hi\n", 1, "between 0 and 2"),
            ("---\ndesk: retail\nknowledge: ../secrets\n---\nWho.\nGreeting: Hi\n", 3, "without .."),
            ("---\nknowledge: [returns, /etc]\n---\nWho.\nGreeting: Hi\n", 2, "'/etc'"),
            ("---\nknowledge: []\n---\nWho.\nGreeting: Hi\n", 2, "names no folder"),
            ("---\nknowledge: {a: b}\n---\nWho.\nGreeting: Hi\n", 2, "list of such names"),
            ("Who.\n\nFollowUp: x\n", 3, "no greeting"),
            ("Who.\nGreeting:\n", 2, "empty"),
            ("Who.\nGreeting: a\nGreeting: b\n", 3, "repeated"),
            ("Who.\nGreeting: a\nGreeting[e]: b\n", 3, "not a language"),
            ("Greeting: a\n", 1, "no text"),
        ] {
            let error = parse("prompts/p.md", "p", content).unwrap_err();
            assert_eq!(error.line, Some(line), "{content:?}: {error}");
            assert!(error.to_string().starts_with(&format!("prompts/p.md:{line}: ")), "{error}");
            assert!(error.hint.contains(hint) && !error.hint.contains(" at line "), "{content:?}: {error}");
            assert!(error.fault.is_some(), "the console has words for it: {error}");
        }
    }
}

//! The front matter of a Markdown page, and the language of a document.

use serde::Deserialize;
use serde_yaml_ng::Value;
use whatlang::{Detector, Lang};

use crate::domain::Language;
use crate::domain::language::LanguageProfile;
use crate::persona::{cut_front_matter, line_of_key};

/// The metadata of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The name that the translations of a page share.
    pub id: Option<String>,
    pub title: Option<String>,
    /// As written: `1.10` stays `1.10`.
    pub version: Option<String>,
    /// As written.
    pub last_updated: Option<String>,
    /// The intended readers. The items of a list are joined by `, `.
    pub audience: Option<String>,
    pub language: Option<Language>,
    /// Searched with every passage of the document, but never shown.
    pub summary: Option<String>,
    /// Whether a person has approved the page. `None` needs no approval. Neither `true` nor `false` is none.
    pub approved: Option<bool>,
}

/// A problem in front matter: the line of the file, counted from 1, and a description.
pub type Complaint = (usize, String);

#[derive(Deserialize)]
struct FrontMatter {
    id: Option<Value>,
    title: Option<Value>,
    version: Option<Value>,
    last_updated: Option<Value>,
    audience: Option<Value>,
    language: Option<Value>,
    summary: Option<Value>,
    approved: Option<Value>,
}

/// Splits a page into the metadata of its YAML front matter, the rest, and a problem in the front matter.
///
/// Front matter is between a first line `---` and the next line `---`. Unknown keys are accepted. Invalid front matter
/// is removed from the text.
pub fn split_front_matter<'a>(page: &'a str, languages: &[LanguageProfile]) -> (About, &'a str, Option<Complaint>) {
    let page = page.strip_prefix('\u{feff}').unwrap_or(page);
    let Some((yaml, body, _)) = cut_front_matter(page) else {
        // A rule as the first line is valid Markdown, but a key below it indicates front matter.
        let meant = page.lines().nth(1).is_some_and(|line| line.contains(':'));
        return (About::default(), page, meant.then(|| (1, "the front matter has no closing ---".to_owned())));
    };
    let (about, complaint) = parse_front_matter(yaml, languages);
    (about, body, complaint)
}

fn parse_front_matter(yaml: &str, languages: &[LanguageProfile]) -> (About, Option<Complaint>) {
    if yaml.trim().is_empty() {
        return (About::default(), None);
    }
    let matter: FrontMatter = match serde_yaml_ng::from_str(yaml) {
        Ok(matter) => matter,
        Err(error) => {
            // The parser counts from the line after the opening `---`.
            let line = error.location().map_or(2, |location| location.line() + 1);
            return (About::default(), Some((line, format!("broken front matter: {error}"))));
        }
    };
    let written = matter.language.and_then(scalar);
    let code: Option<Language> = written.as_deref().and_then(|code| code.to_lowercase().parse().ok());
    let language = code.filter(|code| languages.is_empty() || languages.iter().any(|language| language.code == *code));
    let complaint = written.filter(|_| language.is_none()).map(|written| {
        let known: Vec<&str> = languages.iter().map(|language| language.code.code()).collect();
        let problem = format!("language: {written:?} is not a language of the shop; write one of {}", known.join(", "));
        (line_of_key(yaml, "language").map_or(2, |(line, _)| line), problem)
    });
    let approved = matter.approved.as_ref().map(|value| *value == Value::Bool(true));
    let unclear = matter.approved.filter(|value| !value.is_bool()).map(|_| {
        let problem = "approved: write true or false; the page is not searched until it is true";
        (line_of_key(yaml, "approved").map_or(2, |(line, _)| line), problem.to_owned())
    });
    // YAML drops the trailing zeros of a number, so the version is read from its line.
    let version = match matter.version {
        Some(Value::Number(_)) => {
            line_of_key(yaml, "version").map(|(_, value)| value.split(" #").next().unwrap_or(value).trim().to_owned())
        }
        other => other.and_then(scalar),
    };
    let about = About {
        id: matter.id.and_then(scalar),
        title: matter.title.and_then(scalar),
        version,
        last_updated: matter.last_updated.and_then(scalar),
        audience: matter.audience.and_then(words),
        language,
        summary: matter.summary.and_then(scalar),
        approved,
    };
    (about, complaint.or(unclear))
}

fn scalar(value: Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn words(value: Value) -> Option<String> {
    match value {
        Value::Sequence(values) => {
            let words: Vec<String> = values.into_iter().filter_map(scalar).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        other => scalar(other),
    }
}

/// Guesses the language of a document that does not name it, among those of the shop.
pub fn guess_language(text: &str, languages: &[LanguageProfile]) -> Option<Language> {
    let known =
        || languages.iter().filter_map(|language| Some((Lang::from_code(language.whatlang.as_ref()?)?, language.code)));
    let known_langs: Vec<Lang> = known().map(|(lang, _)| lang).collect();
    // An empty allowlist would let the detector guess any language.
    let guessed = if known_langs.is_empty() { None } else { Detector::with_allowlist(known_langs).detect_lang(text) }?;
    known().find(|(lang, _)| *lang == guessed).map(|(_, code)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages() -> [LanguageProfile; 1] {
        [LanguageProfile { code: Language::VI, ..LanguageProfile::default() }]
    }

    #[test]
    fn front_matter_is_parsed_and_removed() {
        let page = "\u{feff}---\r\ntitle: Giao hàng\r\nversion: 1.10\r\nlast_updated: 2026-01-02\r\naudience: [khách, thợ]\r\nlanguage: vi\r\n---\r\n# Giao\r\n";
        let (about, body, complaint) = split_front_matter(page, &languages());
        assert_eq!(
            about,
            About {
                id: None,
                title: Some("Giao hàng".into()),
                version: Some("1.10".into()),
                last_updated: Some("2026-01-02".into()),
                audience: Some("khách, thợ".into()),
                language: Some(Language::VI),
                summary: None,
                approved: None
            }
        );
        assert_eq!((body, complaint), ("# Giao\r\n", None));
    }

    #[test]
    fn invalid_front_matter_is_reported_with_its_line() {
        for (page, line, body) in [
            ("---\ntitle: a\nversion: [1\n---\nText", 4, "Text"),
            ("---\ntitle: \"a\" b\n---\nText", 2, "Text"),
            ("---\ntitle: a\nlanguage: tiếng Việt\n---\nText", 3, "Text"),
            ("---\ntitle: a\nlanguage: english\n---\nText", 3, "Text"),
            ("---\ntitle: a\n\nText", 1, "---\ntitle: a\n\nText"),
        ] {
            let (_, rest, complaint) = split_front_matter(page, &languages());
            assert_eq!((complaint.map(|(line, _)| line), rest), (Some(line), body), "{page:?}");
        }
    }

    #[test]
    fn language_of_a_page_is_guessed() {
        let languages = crate::persona::Prompts::shipped().languages().unwrap();
        for (code, text) in [
            ("pl", "Czerwona dioda oznacza, że światłowodem nie dociera światło. Proszę zgłosić usterkę."),
            ("en", "A red light means that no light arrives through the fibre. Please report the fault."),
            ("vi", "Thời hạn bảo hành tính từ ngày ghi trên hóa đơn của quý khách."),
        ] {
            assert_eq!(guess_language(text, &languages).map(|language| language.to_string()).as_deref(), Some(code));
        }
    }

    #[test]
    fn page_without_front_matter_is_unchanged() {
        for page in ["# Title\n---\na: b\n---\n", "---\n\nA rule first.", "", "---"] {
            assert_eq!(split_front_matter(page, &languages()), (About::default(), page, None));
        }
    }
}

//! The page at `/docs`, which shows `/openapi.json` without scripts.

use serde_json::{Map, Value};

use super::assets;
use super::page::escape;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// The tag that comes last, because clients for customers do not need it.
const CONSOLE: &str = "console";

/// One operation of the API.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    about: &'a Value,
}

/// Renders the page.
pub(in crate::http) fn page(openapi: &Value) -> String {
    let title = text(&openapi["info"], "title");
    let operations = operations(openapi);
    let mut tags: Vec<&str> = Vec::new();
    for operation in &operations {
        let tag = tag(operation);
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.sort_by_key(|tag| *tag == CONSOLE);
    let mut contents = String::new();
    let mut sections = String::new();
    for tag in tags {
        let name = escape(tag);
        contents.push_str(&format!("<li><a href=\"#{name}\">{name}</a></li>"));
        sections.push_str(&format!("<section id=\"{name}\"><h2>{name}</h2>"));
        operations.iter().filter(|operation| self::tag(operation) == tag).for_each(|operation| {
            sections.push_str(&shown(operation));
        });
        sections.push_str("</section>");
    }
    let schemas: String =
        entries(&openapi["components"]["schemas"]).map(|(name, schema)| described(name, schema)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name} API</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"{icon}\" type=\"image/svg+xml\">\n<link rel=\"stylesheet\" href=\"{base}\">\n\
         <link rel=\"stylesheet\" href=\"{style}\">\n</head>\n<body>\n\
         <header><h1>{name} API</h1>{about}<p><a href=\"/openapi.json\">openapi.json</a></p></header>\n\
         <nav aria-label=\"Contents\"><ul>{contents}<li><a href=\"#schemas\">schemas</a></li></ul></nav>\n\
         <main>{sections}<section id=\"schemas\"><h2>schemas</h2>{schemas}</section></main>\n</body>\n</html>\n",
        name = escape(title),
        icon = assets::path("icon.svg"),
        base = assets::path("base.css"),
        style = assets::path("reference.css"),
        about = paragraphs(text(&openapi["info"], "description")),
    )
}

fn operations(openapi: &Value) -> Vec<Operation<'_>> {
    entries(&openapi["paths"])
        .flat_map(|(path, item)| {
            METHODS.iter().filter_map(move |method| item.get(method).map(|about| Operation { method, path, about }))
        })
        .collect()
}

fn tag<'a>(operation: &Operation<'a>) -> &'a str {
    operation.about["tags"][0].as_str().unwrap_or("other")
}

fn shown(operation: &Operation<'_>) -> String {
    let Operation { method, path, about } = operation;
    let id = escape(text(about, "operationId"));
    let mut body = paragraphs(text(about, "description"));
    let parameters = list(&about["parameters"]);
    if !parameters.is_empty() {
        let rows = parameters.iter().map(|parameter| {
            let needed = if parameter["required"] == true { "required" } else { "" };
            let about = format!("{} {}", kind(&parameter["schema"]), prose(text(parameter, "description")));
            [code(text(parameter, "name")), escape(text(parameter, "in")), needed.to_owned(), about]
        });
        body.push_str(&table("Parameters", ["Name", "In", "Needed", "Description"], rows));
    }
    for (media, content) in entries(&about["requestBody"]["content"]) {
        let described = prose(text(&about["requestBody"], "description"));
        body.push_str(&format!("<p>Body: {} ({}) {described}</p>", kind(&content["schema"]), code(media)));
    }
    let responses = entries(&about["responses"]).map(|(status, response)| {
        let content: Vec<String> = entries(&response["content"]).map(|(_, content)| kind(&content["schema"])).collect();
        [code(status), content.join(", "), prose(text(response, "description"))]
    });
    body.push_str(&table("Responses", ["Status", "Body", "Description"], responses));
    format!(
        "<details id=\"{id}\"><summary><span class=\"method\">{}</span> {} <span>{}</span></summary>{body}</details>",
        method.to_uppercase(),
        code(path),
        prose(text(about, "summary")),
    )
}

/// Renders a schema with its definition folded.
fn described(name: &str, schema: &Value) -> String {
    let definition = serde_json::to_string_pretty(schema).unwrap_or_default();
    format!(
        "<details id=\"schema-{0}\"><summary><code>{0}</code></summary>{1}<pre tabindex=\"0\">{2}</pre></details>",
        escape(name),
        paragraphs(text(schema, "description")),
        escape(&definition),
    )
}

/// Returns the type of a value, or a link to its schema.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|address| address.rsplit('/').next()) {
        let name = escape(name);
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| code(value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(" | ");
    }
    let named = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        name => name.as_str().unwrap_or("any").to_owned(),
    };
    if named == "array" { format!("array of {}", kind(&schema["items"])) } else { escape(&named) }
}

fn table<const N: usize>(caption: &str, heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let heads: String = heads.map(|head| format!("<th scope=\"col\">{head}</th>")).concat();
    let rows: String =
        rows.map(|row| format!("<tr>{}</tr>", row.map(|cell| format!("<td>{cell}</td>")).concat())).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

fn paragraphs(text: &str) -> String {
    text.split("\n\n").filter(|part| !part.trim().is_empty()).map(|part| format!("<p>{}</p>", prose(part))).collect()
}

/// Renders a sentence with code between backticks.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { code(part) } else { escape(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_shows_every_operation_without_backticks() {
        let openapi = serde_json::to_value(crate::http::openapi()).unwrap();
        let page = page(&openapi);
        for Operation { path, .. } in operations(&openapi) {
            assert!(page.contains(&code(path)), "{path}");
        }
        let shown = page.split("<pre").map(|part| part.split("</pre>").last().unwrap_or_default()).collect::<String>();
        assert!(!shown.contains('`'), "{shown}");
        let place = |tag: &str| page.find(&format!("<section id=\"{tag}\">")).unwrap();
        assert!(place("conversations") < place(CONSOLE) && place(CONSOLE) < place("schemas"));
    }
}

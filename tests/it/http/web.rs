//! The chat page, the console and the widget as files. `tests/js/browser` tests their behaviour.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::support::app::TestApp;
use crate::support::copy;

async fn get(app: &TestApp, path: &str) -> (StatusCode, HeaderMap, String) {
    let response = app.get(path).send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    (status, headers, response.text().await.unwrap())
}

/// Returns the settings that a page passes to its scripts.
fn settings(page: &str) -> Value {
    let json = page.split("id=\"settings\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    serde_json::from_str(json).unwrap()
}

/// Returns the quoted text after each occurrence of `start`.
fn quoted<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn pages_load_existing_files_by_hash() {
    let app = TestApp::start().await;
    for path in ["/", "/console"] {
        every_file_is_there(&app, path).await;
    }
    for missing in ["/assets/chat.js", "/assets/chat-0000000000000000.js", "/assets/%2e%2e%2fpage.html", "/assets/"] {
        assert_eq!(get(&app, missing).await.0, 404, "{missing}");
    }
}

async fn every_file_is_there(app: &TestApp, path: &str) {
    let (status, headers, page) = get(app, path).await;
    assert_eq!(status, 200);
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    let mut named = ours(&page);
    assert!(named.len() > 10, "{named:?}");
    let preloaded = named.clone();
    for path in preloaded {
        let (status, headers, content) = get(app, &path).await;
        assert_eq!(status, 200, "{path}");
        assert!(path.starts_with("/assets/"), "{path} is not ours");
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        let expected = match path.rsplit('.').next().unwrap() {
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            _ => "image/svg+xml",
        };
        assert_eq!(headers["content-type"], expected, "{path}");
        named.extend(quoted(&content, "from \"./").iter().map(|name| format!("/assets/{name}")));
        assert!(!content.contains("from \"../"), "{path}");
    }
    // Imports are loaded in parallel with the script.
    assert_eq!(named, ours(&page));
}

/// The files that a page loads, without anchors and links to other pages.
fn ours(page: &str) -> BTreeSet<String> {
    let named = ["href=\"", "src=\""].into_iter().flat_map(|start| quoted(page, start));
    named.filter(|path| !path.starts_with('#')).map(str::to_owned).collect()
}

#[tokio::test]
async fn unchanged_page_responds_304() {
    let app = TestApp::start().await;
    for path in ["/", "/widget.js", "/console"] {
        let (_, headers, _) = get(&app, path).await;
        assert_eq!(headers["cache-control"], "no-cache");
        let again = app.get(path).header("if-none-match", &headers["etag"]).send().await.unwrap();
        assert_eq!(again.status(), 304);
        assert_eq!(again.headers()["etag"], headers["etag"]);
        let other = app.get(path).header("if-none-match", "W/\"0\"").send().await.unwrap();
        assert_eq!(other.status(), 200);
    }
}

#[tokio::test]
async fn only_listed_sites_may_frame_the_chat() {
    let frames = async |origins: &str, path: &str| {
        let app = TestApp::builder().env("WIDGET_ORIGINS", origins).start().await;
        let (_, headers, _) = get(&app, path).await;
        let policy = headers["content-security-policy"].to_str().unwrap().to_owned();
        for directive in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'"] {
            assert!(policy.split("; ").any(|given| given == directive), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        policy.split("; ").find(|directive| directive.starts_with("frame-ancestors")).unwrap().to_owned()
    };
    assert_eq!(frames("", "/").await, "frame-ancestors 'self'");
    let origins = "https://shop.example/, http://localhost:8000";
    for path in ["/", "/?widget=1", "/?persona=unknown"] {
        assert_eq!(frames(origins, path).await, "frame-ancestors 'self' https://shop.example http://localhost:8000");
    }
}

#[tokio::test]
async fn no_site_may_frame_the_console() {
    let app = TestApp::builder().env("WIDGET_ORIGINS", "https://shop.example").start().await;
    let (status, headers, _) = get(&app, "/console").await;
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert_eq!(status, 200);
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("script-src 'self';"), "{policy}");
}

#[tokio::test]
async fn console_page_contains_only_the_signed_in_person() {
    let app = TestApp::builder().env("X_API_KEYS", "key-of-the-shop-0").start().await;
    let settings = async |cookie: &str| {
        settings(&app.get("/console").header("cookie", cookie).send().await.unwrap().text().await.unwrap())
    };
    assert_eq!(settings("").await["me"], Value::Null);
    let entering = app.post("/console/session", &serde_json::json!({"key": "key-of-the-shop-0", "name": "Lan"}));
    let entered = entering.header("sec-fetch-site", "same-origin").send().await.unwrap();
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let seen = settings(&cookie).await;
    assert_eq!((&seen["me"]["name"], &seen["me"]["may_edit"]), (&"Lan".into(), &true.into()));
    assert_eq!(seen["texts"]["en"]["inbox.title"], "Inbox");
    assert_eq!(seen["date_formats"], serde_json::json!({"en": "%b %-d, %Y", "vi": "%-d/%-m/%Y"}));
}

#[tokio::test]
async fn page_texts_have_their_own_language() {
    let app = TestApp::builder().every_desk().start().await;
    // The page has texts in English and Vietnamese, but none in Swahili and Sheng.
    for (path, asked, texts, shown) in [
        ("/?persona=commerce_en&language=en", "en", &["en"][..], "en"),
        ("/?persona=commerce_en&language=sheng", "sheng", &["en"], "en"),
        ("/?persona=commerce_sw&language=sw", "sw", &["en"], "en"),
        ("/?persona=system_persona_vi&language=vi", "vi", &["en", "vi"], "vi"),
    ] {
        let (_, _, page) = get(&app, path).await;
        let settings = settings(&page);
        let found: Vec<&String> = settings["texts"].as_object().unwrap().keys().collect();
        assert_eq!(found, texts, "{path}");
        assert_eq!(settings["language"], asked);
        assert!(page.contains(&format!("<html lang=\"{shown}\"")), "{page}");
    }
}

#[tokio::test]
async fn disabled_console_is_not_found() {
    let app = TestApp::builder().env("CONSOLE", "off").start().await;
    assert_eq!(get(&app, "/console").await.0, 404);
}

#[tokio::test]
async fn any_site_may_load_the_widget_script() {
    let app = TestApp::start().await;
    let (status, headers, script) = get(&app, "/widget.js").await;
    assert_eq!(status, 200);
    assert_eq!(headers["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(headers["cross-origin-resource-policy"], "cross-origin");
    assert!(script.contains("Trò chuyện với SSTC") && script.contains("Chat with SSTC"));
}

#[tokio::test]
async fn closed_chat_and_unknown_persona_show_notice() {
    let closed = TestApp::builder().env("WEB_CHAT", "off").start().await;
    let open = TestApp::start().await;
    for (app, path, words) in [
        (&closed, "/", "WEB_CHAT=on"),
        (&open, "/?persona=unknown", "?persona="),
        (&open, "/?persona=unknown&language=en", "Assistant not found"),
    ] {
        let (status, headers, page) = get(app, path).await;
        assert_eq!(status, 404, "{path}");
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert!(headers.contains_key("content-security-policy") && headers.contains_key("x-request-id"));
        assert!(page.contains(words), "{page}");
    }
    // Unknown parameters of a link are ignored.
    for path in ["/?utm_source=mail", "/?language=xx", "/?persona=", "/?language=vi&language=en"] {
        let (status, _, page) = get(&open, path).await;
        assert!(status == 200 || path.contains("persona"), "{path}: {status}");
        assert!(page.contains("SSTC"));
    }
}

#[tokio::test]
async fn persona_name_is_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let prompts = folder.path().join("prompts");
    copy("prompts".as_ref(), &prompts);
    let persona = "---\nname: \"</script><b>&'\"\n---\nText.\n\nGreeting: </script><i>hi</i>\n";
    std::fs::write(prompts.join("odd.md"), persona).unwrap();
    let app = TestApp::builder().env("PROMPTS_PATH", prompts.display()).start().await;
    let (status, _, page) = get(&app, "/?persona=odd").await;
    assert_eq!(status, 200);
    assert!(page.contains("<title>&lt;/script&gt;&lt;b&gt;&amp;&#39;</title>"), "{page}");
    assert!(!page.contains("<b>") && !page.contains("<i>"), "{page}");
    assert_eq!(page.matches("</script>").count(), 2);
    let (_, _, script) = get(&app, "/widget.js").await;
    assert!(script.contains(r#"</script><b>&'"#), "a separate script needs no escaping");
}

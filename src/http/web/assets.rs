//! The pages' files, compiled into the program. A file's name contains a hash of its content, so browsers may cache it
//! without limit.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::NOSNIFF;
use crate::domain::text::hex;
use crate::http::error::{ApiError, Result};

/// Every file by name. A file comes after the files that it imports, because its hash depends on theirs.
const FILES: &[(&str, &str)] = &[
    ("icon.svg", include_str!("assets/icon.svg")),
    ("base.css", include_str!("assets/base.css")),
    ("page.css", include_str!("assets/page.css")),
    ("reference.css", include_str!("assets/reference.css")),
    ("words.js", include_str!("assets/words.js")),
    ("memory.js", include_str!("assets/memory.js")),
    ("markup.js", include_str!("assets/markup.js")),
    ("render.js", include_str!("assets/render.js")),
    ("request.js", include_str!("assets/request.js")),
    ("session.js", include_str!("assets/session.js")),
    ("stream.js", include_str!("assets/stream.js")),
    ("outbox.js", include_str!("assets/outbox.js")),
    ("scroll.js", include_str!("assets/scroll.js")),
    ("bubble.js", include_str!("assets/bubble.js")),
    ("transcript.js", include_str!("assets/transcript.js")),
    ("composer.js", include_str!("assets/composer.js")),
    ("chat.js", include_str!("assets/chat.js")),
    ("console.css", include_str!("console/console.css")),
    ("views.css", include_str!("console/views.css")),
    ("phrases.js", include_str!("console/phrases.js")),
    ("desk.js", include_str!("console/desk.js")),
    ("parts.js", include_str!("console/parts.js")),
    ("alarm.js", include_str!("console/alarm.js")),
    ("live.js", include_str!("console/live.js")),
    ("router.js", include_str!("console/router.js")),
    ("sign-in.js", include_str!("console/sign-in.js")),
    ("receipt.js", include_str!("console/receipt.js")),
    ("thread.js", include_str!("console/thread.js")),
    ("row.js", include_str!("console/row.js")),
    ("answer.js", include_str!("console/answer.js")),
    ("escalation.js", include_str!("console/escalation.js")),
    ("panel.js", include_str!("console/panel.js")),
    ("reread.js", include_str!("console/reread.js")),
    ("returns.js", include_str!("console/returns.js")),
    ("account.js", include_str!("console/account.js")),
    ("conversation.js", include_str!("console/conversation.js")),
    ("inbox.js", include_str!("console/inbox.js")),
    ("sums.js", include_str!("console/sums.js")),
    ("knowledge.js", include_str!("console/knowledge.js")),
    ("warranty.js", include_str!("console/warranty.js")),
    ("editor.js", include_str!("console/editor.js")),
    ("personas.js", include_str!("console/personas.js")),
    ("plot.js", include_str!("console/plot.js")),
    ("figures.js", include_str!("console/figures.js")),
    ("audit.js", include_str!("console/audit.js")),
    ("goods.js", include_str!("console/goods.js")),
    ("sales.js", include_str!("console/sales.js")),
    ("console.js", include_str!("console/console.js")),
];

static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets::new(FILES));

/// One file of [`FILES`].
pub(super) async fn get(name: Result<Path<String>, PathRejection>) -> Result<Response> {
    let Path(name) = name.map_err(|_| ApiError::NotFound)?;
    let asset = ASSETS.by_address.get(name.as_str()).ok_or(ApiError::NotFound)?;
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, NOSNIFF),
    ];
    Ok((headers, asset.content.as_str()).into_response())
}

/// Returns the path of a file, such as `/assets/page-1f0c9a3be2d45c77.css`.
pub(super) fn path(name: &str) -> String {
    ASSETS.paths.get(name).map(|address| format!("/assets/{address}")).unwrap_or_default()
}

/// Returns the script `name` and all scripts that it imports, so that a page can load them in parallel. What a script imports later,
/// by `import(…)`, is left out.
pub(super) fn modules(name: &str) -> Vec<&'static str> {
    let mut wanted = vec![name];
    for (file, source) in FILES.iter().rev() {
        if wanted.contains(file) {
            let is_needed = |other| imports(other).iter().any(|import| source.contains(&format!("from {import}")));
            let needed = FILES.iter().filter(|(other, _)| is_needed(other));
            wanted.extend(needed.map(|(other, _)| other));
        }
    }
    FILES.iter().map(|(file, _)| *file).filter(|file| wanted.contains(file)).collect()
}

/// Returns 64 bits of SHA-256 as hex, enough to distinguish versions of a file.
pub(super) fn hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content)[..8])
}

struct Assets {
    by_address: BTreeMap<String, Asset>,
    paths: BTreeMap<&'static str, String>,
}

struct Asset {
    content: String,
    content_type: &'static str,
}

impl Assets {
    fn new(files: &[(&'static str, &str)]) -> Self {
        let mut assets = Self { by_address: BTreeMap::new(), paths: BTreeMap::new() };
        for (name, source) in files {
            let content = assets.with_addresses(source);
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            let address = format!("{stem}-{}.{extension}", hash(content.as_bytes()));
            assets.paths.insert(name, address.clone());
            assets.by_address.insert(address, Asset { content, content_type: content_type(extension) });
        }
        assets
    }

    /// Replaces the imports of the source by their hashed names.
    fn with_addresses(&self, source: &str) -> String {
        self.paths.iter().fold(source.to_owned(), |source, (name, address)| {
            imports(name).iter().fold(source, |source, import| source.replace(import, &format!("\"./{address}\"")))
        })
    }
}

/// Returns how a file is imported: from the same folder, and by the console from the chat page's folder.
fn imports(name: &str) -> [String; 2] {
    [format!("\"./{name}\""), format!("\"../assets/{name}\"")]
}

fn content_type(extension: &str) -> &'static str {
    match extension {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_file_renames_files_that_import_it() {
        let names = |inner: &'static str| {
            let assets = Assets::new(&[("inner.js", inner), ("outer.js", "import \"./inner.js\";"), ("other.js", "1")]);
            ["inner.js", "outer.js", "other.js"].map(|name| assets.paths[name].clone())
        };
        let (before, after) = (names("1"), names("2"));
        assert_ne!(before[0], after[0]);
        assert_ne!(before[1], after[1]);
        assert_eq!(before[2], after[2]);
    }
}

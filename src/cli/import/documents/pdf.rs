//! The text of a PDF file.

use std::io::Read;

use anyhow::{anyhow, bail};
use flate2::read::ZlibDecoder;

use super::read::{EXPANDED_MAX_BYTES, EXPANDED_TOO_MUCH};

/// Begins the content of a stream.
const STREAM: &[u8] = b"stream";

/// Returns the text of a file.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn text(bytes: &[u8]) -> anyhow::Result<String> {
    if !bytes.windows(5).take(1024).any(|window| window == b"%PDF-") {
        bail!("it is no PDF file");
    }
    // Before the parser, which unpacks whole streams into memory.
    if expanded_size(bytes) > EXPANDED_MAX_BYTES {
        bail!(EXPANDED_TOO_MUCH);
    }
    let document = pdf_extract::Document::load_mem(bytes)
        .map_err(|error| anyhow!("the PDF is damaged: {error}. Open it and save a copy"))?;
    // A file that opens without a password was decrypted.
    if document.trailer.has(b"Encrypt") {
        bail!("the PDF is encrypted: save a copy without a password");
    }
    let mut text = String::new();
    let mut output = pdf_extract::PlainTextOutput::new(&mut text);
    pdf_extract::output_doc(&document, &mut output).map_err(|error| anyhow!("the PDF cannot be read: {error}"))?;
    if !text.chars().any(char::is_alphanumeric) {
        bail!("the PDF has no text: if its pages are scanned, run a text recognition first");
    }
    Ok(text)
}

/// Returns how many bytes the file's compressed streams hold, or somewhat more than the limit. Streams that are compressed in a rare
/// way or twice are not counted: they are left to the limit on memory.
fn expanded_size(bytes: &[u8]) -> u64 {
    let (mut size, mut buffer) = (0, vec![0; 65_536]);
    for at in (0..bytes.len()).filter(|at| bytes[*at..].starts_with(STREAM)) {
        let content = bytes[at + STREAM.len()..].trim_ascii_start();
        // The first bytes of compressed content, as RFC 1950 defines them.
        let [method, flags, ..] = content else { continue };
        if method & 15 != 8 || !u16::from_be_bytes([*method, *flags]).is_multiple_of(31) {
            continue;
        }
        let mut unpacked = ZlibDecoder::new(content);
        // Damaged content is used as far as it can be unpacked.
        while let Ok(read @ 1..) = unpacked.read(&mut buffer) {
            size += read as u64;
            if size > EXPANDED_MAX_BYTES {
                return size;
            }
        }
    }
    size
}

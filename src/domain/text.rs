//! Looking at text without its diacritics.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Lower case, without diacritics, `đ` as `d`: "Bảo hành Đúng" becomes "bao hanh dung".
///
/// Everything else (spaces, digits, punctuation, emoji) stays as it is. Composed and decomposed input give the same.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(|c| if c == 'đ' { 'd' } else { c })
        .collect()
}

/// The words of a text, folded: maximal runs of letters and digits.
pub fn words(text: &str) -> Vec<String> {
    fold(text).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_takes_every_vietnamese_mark_away() {
        assert_eq!(fold("Bảo hành ĐÚNG hạn, ưỡng ẹo — SSD 1TB"), "bao hanh dung han, uong eo — ssd 1tb");
        assert_eq!(fold("ế\u{323}"), "e");
        assert_eq!(fold("e\u{302}\u{301}"), fold("ế"));
        assert_eq!(words("máy-tính (mới) 2TB!"), ["may", "tinh", "moi", "2tb"]);
    }
}

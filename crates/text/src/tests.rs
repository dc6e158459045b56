use std::borrow::Cow;
use std::collections::HashMap;

use super::*;

fn lexicon() -> Lexicon {
    let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let classes = HashMap::from([("product".to_owned(), vec!["laptop".to_owned(), "màn hình".to_owned()])]);
    Lexicon::new(owned(&[("bh", "bảo hành"), ("ko", "không"), ("it's", "it is")]), classes)
        .with_plain_words(&["con".to_owned(), "gia".to_owned()])
}

/// What the pattern covers of the text, as typed.
fn found(pattern: &str, text: &str) -> Option<String> {
    let lexicon = lexicon();
    let patterns = lexicon.patterns(&[pattern.to_owned()]).expect("a pattern");
    let stream = lexicon.tokenize(text);
    patterns[0].find(&stream, &[]).map(|words| stream.source(words).to_owned())
}

#[test]
fn a_pattern_covers_what_its_page_says() {
    for (pattern, text, covered) in [
        ("giá", "Giá bao nhiêu", Some("Giá")),
        ("giá", "gia bao nhieu", Some("gia")),
        ("giá", "gía này ổn", Some("gía")),
        ("giá", "gia đình tôi ở đây", None),
        ("giá", "già quá rồi đấy", None),
        ("mua", "hôm nay mưa", None),
        ("còn bảo hành", "máy con còn bảo hành", Some("còn bảo hành")),
        ("còn bảo hành", "may con bao hanh", Some("con bao hanh")),
        ("còn bảo hành", "chiếc này của con bảo hành ở đâu", None),
        ("bảo hành", "kiểm tra bảo hanh giúp mình với", Some("bảo hanh")),
        ("bảo hành", "bh ko", Some("bh")),
        ("bảo hành", "BẢO HÀNH", Some("BẢO HÀNH")),
        ("không", "còn hàng ko", Some("ko")),
        ("ghế!", "gioi ghe", None),
        ("ghế!", "ghế gaming", Some("ghế")),
        ("mua|đặt_hàng", "tôi đặt hàng nhé", Some("đặt hàng")),
        ("được? không", "được không", Some("được không")),
        ("được? không", "không", Some("không")),
        ("<product> nào", "màn hình nào tốt", Some("màn hình nào")),
        ("# triệu", "tầm 15 triệu", Some("15 triệu")),
        ("# triệu", "tầm 1.5 triệu", Some("5 triệu")),
        ("# triệu", "753NTXRA522 triệu", None),
        ("# tháng", "24 tháng", Some("24 tháng")),
        ("còn .. không", "còn màu trắng này không", Some("còn màu trắng này không")),
        ("còn .. không", "còn một hai ba bốn không", Some("còn một hai ba bốn không")),
        ("còn .. không", "còn một hai ba bốn năm không", None),
        ("damag*", "badly damaged", Some("damaged")),
        ("damag*", "a dam", None),
        ("it is", "it’s fine", Some("it’s")),
        ("là", "ừ là — bốn", Some("là")),
        ("là bốn", "ừ là — bốn", None),
        ("còn .. không", "còn hàng, không?", None),
        ("giá bao nhiêu", "giá, bao nhiêu", None),
        ("^ thôi $", "thôi, giá bao nhiêu", Some("thôi")),
        ("^ thôi $", "thôi em", None),
        ("alo", "alooooo", Some("alooooo")),
        ("whats up", "what’s up", Some("what’s up")),
        ("i5", "i5-12400F", Some("i5")),
    ] {
        assert_eq!(found(pattern, text).as_deref(), covered, "{pattern:?} in {text:?}");
    }
}

#[test]
fn hidden_words_are_not_seen() {
    let lexicon = lexicon();
    let patterns = lexicon.patterns(&["mua".to_owned()]).expect("a pattern");
    let tokens = lexicon.tokenize("mua rồi mua");
    assert_eq!(patterns[0].find(&tokens, &[true, false, false]), Some(2..3));
    assert_eq!(match_mask(&patterns, &tokens, &[]), [true, false, true]);
}

#[test]
fn empty_pattern_or_unknown_class_is_refused() {
    let lexicon = lexicon();
    for empty in ["", "..", "^ $", "được?"] {
        assert_eq!(
            lexicon.patterns(&[empty.to_owned()]).map(drop),
            Err(InvalidPattern::Empty(empty.to_owned())),
            "{empty:?}"
        );
    }
    let with_empty = Lexicon::new(HashMap::new(), HashMap::from([("shop".to_owned(), vec![String::new()])]));
    for lexicon in [lexicon, with_empty] {
        let invalid = InvalidPattern::Class { pattern: "<shop>".to_owned(), class: "shop".to_owned() };
        assert_eq!(lexicon.patterns(&["<shop>".to_owned()]).map(drop), Err(invalid));
    }
}

#[test]
fn no_text_makes_it_fail() {
    let lexicon = lexicon();
    for text in ["", " ", "\u{301}", "\u{301}a", "a\0b", "😀", "İİİ", "ﬁﬁﬁ", "''", "a'", "...", "1.2.3", "đđđđ"]
    {
        let stream = lexicon.tokenize(text);
        let typed: Vec<&str> = (0..stream.tokens().len()).map(|at| stream.source(at..at + 1)).collect();
        assert!(typed.iter().all(|word| !word.is_empty()), "{text:?}: {typed:?}");
    }
}

#[test]
fn cleaning_removes_controls_and_keeps_scripts() {
    for (text, cleaned) in [
        ("a\0b\u{1b}[31m\u{7f}\u{85}c\r\n\td", "ab[31mc\n\td"),
        ("\u{feff}x\u{202e}gnp.exe\u{202c}\u{2067}y\u{2069}\u{200e}\u{200f}\u{61c}", "xgnp.exey"),
    ] {
        assert_eq!(clean(text), cleaned);
    }
    let kept = "Bảo hành e\u{302}\u{301} 👨\u{200d}👩 می\u{200c}خواهم ☕\u{fe0f} שלום";
    assert!(matches!(clean(kept), Cow::Borrowed(text) if text == kept));
    let value = serde_json::json!({"a\0": ["b\u{202e}", 1, null, {"c": "\0"}]});
    assert_eq!(clean_json(value), serde_json::json!({"a": ["b", 1, null, {"c": ""}]}));
}

#[test]
fn folding_takes_every_mark_away() {
    assert_eq!(fold("Bảo hành ĐÚNG hạn, ưỡng ẹo — SSD 1TB"), "bao hanh dung han, uong eo — ssd 1tb");
    assert_eq!(fold("Zażółć gęślą jaźń, Łódź"), "zazolc gesla jazn, lodz");
    assert_eq!(fold("ế\u{323}"), "e");
    assert_eq!(fold("e\u{302}\u{301}"), fold("ế"));
    assert_eq!(words("máy-tính (mới) 2TB!"), ["may", "tinh", "moi", "2tb"]);
}

#[test]
fn text_of_invisible_characters_is_blank() {
    for text in ["", " \n", "\u{200b}", "\u{200b} \u{feff}\u{2060}", "\u{ad}", "\u{fe0f}", "\u{3164}"] {
        assert!(is_blank(text), "{text:?}");
    }
    for text in ["a\u{200b}", "?", "💖", "👩\u{200d}👧"] {
        assert!(!is_blank(text), "{text:?}");
    }
}

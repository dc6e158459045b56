use super::*;

fn rules() -> Arc<ClaimRules> {
    ClaimRules::read(&Prompts::shipped()).expect("the shipped rules")
}

impl ClaimRules {
    /// The first claim of the text that nothing supports.
    fn unsupported(&self, text: &str, facts: &Facts) -> Option<Claim> {
        self.first_unsupported(&self.lexicon.tokenize(text), facts, &Quoted::default())
    }
}

#[test]
fn what_no_tool_did_may_not_be_claimed() {
    let rules = rules();
    use Claim::*;
    for (text, expected) in [
        ("Your return has been created.", Made),
        ("I've created a return for your boots.", Made),
        ("I have just started the return for you!", Made),
        ("Great news! The RMA is set up.", Made),
        ("Your return number is RMA-1.", Made),
        ("Em đã tạo yêu cầu trả hàng cho quý khách ạ.", Made),
        ("Yêu cầu trả hàng đã được tạo ạ.", Made),
        ("Your order has been refunded.", Refunded),
        ("I have refunded $129.99 to your card.", Refunded),
        ("The money was sent to your account.", Refunded),
        ("Dạ cửa hàng đã hoàn tiền cho quý khách ạ.", Refunded),
        ("I've sent you the label by e-mail.", Mailed),
        ("A confirmation email has been sent.", Mailed),
        ("Em đã gửi e-mail cho quý khách ạ.", Mailed),
        ("I've escalated this to a specialist.", HandedOver),
        ("A colleague will contact you soon.", HandedOver),
        ("Em đã chuyển cho nhân viên ạ.", HandedOver),
        ("Good news: your order is eligible for a return.", Eligible),
        ("Your return is approved!", Eligible),
        ("You can return it within 30 days.", Eligible),
        ("Đơn này đủ điều kiện trả hàng ạ.", Eligible),
        ("I'm sorry, the return window has passed.", Refused),
        ("This item cannot be returned.", Refused),
        ("Your order is not eligible.", Refused),
        ("Dạ đơn này không đủ điều kiện ạ.", Refused),
        ("Your order has been cancelled.", Cancelled),
        ("Em đã hủy đơn ạ.", Cancelled),
        ("Don't worry, I'm a real person.", IsHuman),
        ("I am not a bot, I would love to help you.", IsHuman),
        ("I'm actually human!", IsHuman),
        ("You're chatting with a real person here.", IsHuman),
        ("Dạ em là người thật ạ.", IsHuman),
        ("Dạ em không phải là robot đâu ạ.", IsHuman),
    ] {
        assert_eq!(rules.unsupported(text, &Facts::default()), Some(expected), "{text}");
    }
}

/// Reads the text as it streams. Returns what passed before a claim, and the claim.
fn stream(rules: &ClaimRules, text: &str) -> (String, Option<Claim>) {
    let mut watch = ClaimWatch::new(rules, Facts::default(), Quoted::default());
    let mut passed = String::new();
    for c in text.chars() {
        match watch.push(c) {
            ClaimCheck::Clear(text) => passed += &text,
            ClaimCheck::Unsupported(claim, _) => return (passed, Some(claim)),
        }
    }
    match watch.finish() {
        ClaimCheck::Clear(text) => (passed + &text, None),
        ClaimCheck::Unsupported(claim, _) => (passed, Some(claim)),
    }
}

#[test]
fn claim_in_a_long_sentence_is_found() {
    let rules = rules();
    for words in ["hm ", "hm hm, ", "hm hm hm hm hm hm hm hm hm hm hm hm; "] {
        for offset in (0..5).chain(540..640).chain(1_170..1_240) {
            let filler = words.repeat(offset / words.len() + 1);
            let filler = &filler[..offset];
            let claim = format!("{filler} your return has been created for you today.");
            let (passed, found) = stream(&rules, &claim);
            assert_eq!(found, Some(Claim::Made), "{words:?} {offset}");
            assert!(
                !passed.contains("return") && passed.trim_end().starts_with(filler.trim_end()),
                "{offset}: {passed}"
            );
            let supposed = format!("{filler}, once your return has been created you get a label. Bye");
            assert_eq!(stream(&rules, &supposed), (supposed.clone(), None), "{words:?} {offset}");
        }
    }
    let endless = "x".repeat(5_000);
    assert_eq!(stream(&rules, &endless), (endless.clone(), None));
}

#[test]
fn what_is_asked_or_supposed_is_no_claim() {
    let rules = rules();
    for text in [
        "What's your order number?",
        "Could you tell me the e-mail address or phone number it was placed with?",
        "Shall I create the return for you?",
        "Would you like me to start the return?",
        "Has it been refunded?",
        "Once your return has been created, you get a label.",
        "Let me check whether it can be returned.",
        "When the money has been refunded, you will hear from us.",
        "Your order is on its way. It was shipped on Monday.",
        "Dạ quý khách cho em xin mã đơn hàng ạ.",
        "Quý khách có muốn em tạo yêu cầu trả hàng không ạ?",
        "Khi yêu cầu đã được tạo, quý khách sẽ nhận nhãn.",
        "Hello! I look after orders and returns.",
        "I'm an AI assistant, not a person.",
        "I'm not a person, I'm the AI assistant who answers SSTC's messages.",
        "Am I a human? No, I'm the shop's AI assistant.",
        "I am the person to ask about laptops.",
        "Dạ em là trợ lý AI, không phải người thật ạ.",
        "I found your order 77893 with Hiking Boots. Is this the one you want to return?",
    ] {
        assert_eq!(rules.unsupported(text, &Facts::default()), None, "{text}");
    }
}

#[test]
fn what_a_tool_did_may_be_said() {
    let rules = rules();
    let all = Facts { made: true, refunded: true, handed_over: true, eligible: true, refused: true, offered: true };
    let text =
        "I've created your return, it has been refunded, e-mailed and escalated to a specialist. It is not eligible.";
    assert_eq!(rules.unsupported(text, &all), None);
    assert_eq!(rules.unsupported(text, &Facts { refunded: false, ..all }), Some(Claim::Refunded));
    assert_eq!(rules.unsupported(text, &Facts { refused: false, ..all }), Some(Claim::Refused));
}

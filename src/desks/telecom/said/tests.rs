use super::*;
use crate::persona::Prompts;

fn said(text: &str) -> Said {
    TelecomRules::read(&Prompts::shipped()).expect("the rules").said(text)
}

fn pln(minor: i64) -> SaidAmount {
    SaidAmount::One(Money::new(minor, Currency::Pln))
}

#[test]
fn invoices_users_and_amounts_are_told_apart() {
    for (text, user_id, invoice, amount) in [
        ("I was overcharged PLN 100 on invoice INV-12345", None, Some("INV-12345"), pln(10_000)),
        ("It's u123, invoice 20251001", Some("u123"), Some("20251001"), SaidAmount::Unclear),
        ("my user id u123, invoice 20251001", Some("u123"), Some("20251001"), SaidAmount::Unclear),
        ("the Huawei HG8245 and an AX3000", None, None, SaidAmount::Unclear),
        ("INV12345", None, None, SaidAmount::Unclear),
        ("100 zloty... no wait, make it 90", None, None, pln(9_000)),
        ("100 zł, nie, czekaj, 90", None, None, pln(9_000)),
        ("100 zloty back please. wait no, 90", None, None, pln(9_000)),
        ("100 zł, czekaj nie, 90", None, None, pln(9_000)),
        ("my customer id is 445566", Some("445566"), None, SaidAmount::Unclear),
        ("zwrot 45,50 zł z faktury FV/2025/10/17", None, Some("FV/2025/10/17"), pln(4_550)),
        ("Sorry, not 80 PLN, I meant 50 PLN", None, None, pln(5_000)),
        ("zero złotych, żartowałem. 65 zł", None, None, pln(6_500)),
        ("minus 20 PLN", None, None, pln(0)),
        ("zwrot -20 zł", None, None, pln(0)),
        ("1 000 zł", None, None, pln(100_000)),
        ("0.005 PLN", None, None, SaidAmount::TooExact),
        ("145 PLN instead of 45 PLN", None, None, SaidAmount::Unclear),
        ("refund 20 EUR", None, None, SaidAmount::Unclear),
        ("what about case R10001", None, None, SaidAmount::Unclear),
        ("my Wi-Fi 6 router", None, None, SaidAmount::Unclear),
    ] {
        let said = said(text);
        let found = (said.user_id(), said.invoice(None, None).map(String::from), said.amount(false));
        assert_eq!(found, (user_id, invoice.map(str::to_owned), amount), "{text}: {said:?}");
    }
}

#[test]
fn bare_numbers_answer_what_was_asked() {
    let number = said("it is 4550");
    assert_eq!(number.amount(true), pln(455_000));
    assert_eq!(number.invoice(Some(Asked::Invoice), None).map(String::from).as_deref(), Some("4550"));
    assert_eq!((number.guessed_user_id(), number.invoice(Some(Asked::Proof), None)), (None, None), "it is an amount");
    assert_eq!(said("it is 445566").guessed_user_id(), Some("445566"));
    assert_eq!((number.amount(false), number.invoice(None, None)), (SaidAmount::Unclear, None));
    let letters = said("FV12345");
    assert_eq!(letters.invoice(Some(Asked::Proof), None).map(String::from).as_deref(), Some("FV12345"));
    assert_eq!(letters.amount(true), SaidAmount::Unclear);
    let corrected = said("k124 20251001").invoice(Some(Asked::Proof), Some("K124"));
    assert_eq!(corrected.map(String::from).as_deref(), Some("20251001"));
    assert_eq!(said("sorry, k124 and INV12345").corrected_user_id("k123"), Some("k124"));
    assert_eq!(said("INV12345").corrected_user_id("u123"), None);
}

#[test]
fn invoice_is_named_as_a_whole_word() {
    let number = "INV-12345".parse().unwrap();
    for (text, expected) in [
        ("refund INV-12345", true),
        ("it is 12345", true),
        ("inv12345 please", true),
        ("1 of 2345", false),
        ("call 600 12345 6", true),
        ("I paid 123 on the 45th", false),
        ("INV-123456", false),
    ] {
        assert_eq!(said(text).names_invoice(&number), expected, "{text}");
    }
}

#[test]
fn number_in_a_question_is_no_amount() {
    for text in [
        "I don't know how much, I pay 65 PLN a month",
        "how much do I get back of 65 PLN?",
        "when will I see the 100 PLN on my account",
        "is the 30 PLN for premium texts paid back?",
        "nie wiem ile, 45 zł płacę za miesiąc to ile mi oddacie",
        "kiedy dostanę te 80 zł?",
        "płacę 65 zł miesięcznie",
    ] {
        let said = said(text);
        assert_eq!((said.amount(true), said.exact_amount()), (SaidAmount::Unclear, SaidAmount::Unclear), "{text}");
    }
}

#[test]
fn amount_is_read_from_claims_and_requests() {
    for (text, amount) in [
        ("refund 20 PLN of INV-12345", 2_000),
        ("my plan is 45 PLN a month, refund me 30 PLN", 3_000),
        ("can you refund me 20 PLN?", 2_000),
        ("around 20 PLN", 2_000),
        ("refund 20 PLN, no internet for a month", 2_000),
        ("20 or so", 2_000),
        ("50 PLN?", 5_000),
        ("możecie zwrócić mi 20 zł?", 2_000),
        ("jakieś 20 zł", 2_000),
        ("20 zł", 2_000),
    ] {
        let said = said(text);
        assert_eq!(said.amount(true), pln(amount), "{text}");
    }
}

#[test]
fn amounts_are_read_in_words() {
    for (text, amount) in [
        ("a hundred zloty", 10_000),
        ("a hundred and fifty zloty", 15_000),
        ("sto czterdzieści pięć złotych", 14_500),
        ("tysiąc złotych", 100_000),
        ("tysiąc dwieście złotych", 120_000),
        ("dwa tysiące złotych", 200_000),
        ("a thousand zloty", 100_000),
        ("twenty", 2_000),
        ("dwadziescia piec", 2_500),
        ("sto czterdzieści pięć", 14_500),
        ("six fifty", 650),
        ("osiem sześćdziesiąt siedem", 867),
        ("six fifty zloty", 650),
        ("osiem sześćdziesiąt siedem złotych", 867),
    ] {
        let said = said(text);
        assert_eq!(said.amount(true), pln(amount), "{text}: {said:?}");
    }
    for text in ["the other one", "ten drugi", "two of us", "in twenty minutes"] {
        assert_eq!(said(text).amount(true), SaidAmount::Unclear, "{text}");
    }
}

#[test]
fn short_number_is_no_invoice() {
    assert_eq!(said("I have 2 of them").invoice(Some(Asked::Invoice), None), None);
}

#[test]
fn denied_and_corrected_invoices_do_not_count() {
    for (text, invoice) in [
        ("Not INV-12345, I meant INV-20251001", Some("INV-20251001")),
        ("refund INV-12345, actually INV-20251001", Some("INV-20251001")),
        ("INV-20251001 and not the invoice INV-12345", Some("INV-20251001")),
        ("nie z faktury INV-12345, tylko z INV-20251001", Some("INV-20251001")),
        ("Nie, INV-20251001", Some("INV-20251001")),
        ("INV-12345 or INV-20251001", Some("INV-12345")),
        ("invoice INV-12345, that is invoice 12345", Some("INV-12345")),
    ] {
        let said = said(text);
        assert_eq!(said.invoice(None, None).map(String::from).as_deref(), invoice, "{text}: {said:?}");
    }
    let corrected = said("12345, no wait, 20251001").invoice(Some(Asked::Invoice), None);
    assert_eq!(corrected.map(String::from).as_deref(), Some("20251001"));
}

#[test]
fn denied_and_corrected_ids_do_not_count() {
    for (text, user_id) in
        [("I'm not u123", None), ("u123, sorry, u456", Some("u456")), ("not u123 but u456", Some("u456"))]
    {
        assert_eq!(said(text).user_id(), user_id, "{text}");
    }
}

#[test]
fn grosze_are_a_part_of_the_amount() {
    for (text, amount) in [
        ("12 zł 50 gr", 1_250),
        ("refund 12 zł 5 gr please", 1_205),
        ("12 zł 50gr", 1_250),
        ("12 zł 50, please", 1_250),
        ("dwanaście złotych pięćdziesiąt groszy", 1_250),
        ("50 groszy", 50),
        ("refund 20 PLN 12 times", 2_000),
    ] {
        assert_eq!(said(text).amount(true), pln(amount), "{text}");
    }
}

#[test]
fn dates_and_phone_numbers_prove_nothing() {
    for text in [
        "I don't have it, I paid on 12.11.2025",
        "on 12/11/2025",
        "my phone is 600123456",
        "call me on +48600123456",
        "numer telefonu to 600123456",
        "it was 45.50",
    ] {
        for asked in [Asked::Proof, Asked::Invoice] {
            assert_eq!(said(text).invoice(Some(asked), None), None, "{text}");
        }
    }
    for text in ["10/2025", "2025/10/17", "20251001", "600123456"] {
        let proof = said(text).invoice(Some(Asked::Proof), None).map(String::from);
        assert_eq!(proof.as_deref(), Some(text));
    }
}

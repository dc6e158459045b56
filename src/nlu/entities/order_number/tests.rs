use super::*;

/// The words of the shop.
pub fn words() -> OrderNumberWords {
    #[derive(Deserialize)]
    struct Orders {
        order_number: OrderNumberWords,
    }
    crate::persona::Prompts::shipped().rules(&["orders"], Ok::<Orders, String>).unwrap().order_number
}

#[test]
fn order_numbers_are_found_in_messages() {
    use Confidence::{Alone, Bare, Named};
    for (text, expected) in [
        ("I want to return my hiking boots from order 77893. They're too small.", vec![("77893", Named)]),
        ("ABC-123456", vec![("ABC-123456", Alone)]),
        ("abc-123456.", vec![("ABC-123456", Alone)]),
        ("77893", vec![("77893", Alone)]),
        ("#77893", vec![("77893", Named)]),
        ("AB-1234", vec![("AB-1234", Alone)]),
        ("ORD-VN-77", vec![("ORD-VN-77", Alone)]),
        ("ABCD1", vec![("ABCD1", Alone)]),
        ("where is ORD-VN-77?", vec![("ORD-VN-77", Bare)]),
        ("đơn ord-vn-77 tới đâu rồi", vec![("ORD-VN-77", Named)]),
        ("đơn 77893", vec![("77893", Named)]),
        ("đơn77893", vec![("77893", Named)]),
        ("don hang so 77893 cua minh", vec![("77893", Named)]),
        ("mã đơn hàng là ABC-123456 ạ", vec![("ABC-123456", Named)]),
        ("My order number is: ABC-123456", vec![("ABC-123456", Named)]),
        ("order no. 0912345678", vec![("0912345678", Named)]),
        ("order #77893, please", vec![("77893", Named)]),
        ("where is my parcel? it's 77893", vec![("77893", Bare)]),
        ("trả hàng ABC-1234 giúp em", vec![("ABC-1234", Bare)]),
        ("not 77894 but order 77893", vec![("77893", Named), ("77894", Bare)]),
        ("đơn 77893 và đơn 77900", vec![("77893", Named), ("77900", Named)]),
        ("77893 77893", vec![("77893", Bare)]),
        ("(77893)", vec![("77893", Alone)]),
        ("20261103", vec![("20261103", Alone)]),
        ("order 20261103", vec![("20261103", Named)]),
        ("where is order 88001? 912345678", vec![("88001", Named)]),
        ("đơn 10000001 và 10000002", vec![("10000001", Named), ("10000002", Bare)]),
        ("912345678", vec![("912345678", Alone)]),
        ("(415) 555-0123, order 88004", vec![("88004", Named)]),
        ("88004 (415) 555-0123", vec![("88004", Bare)]),
        ("(415) 555-0123 88004", vec![("88004", Bare)]),
        ("(028) 3822 1234 đơn 77893", vec![("77893", Named)]),
    ] {
        let found = find_order_numbers(text, &words());
        let found: Vec<(&str, Confidence)> =
            found.iter().map(|found| (found.number.as_str(), found.confidence)).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn missing_hyphen_after_prefix_is_added() {
    for text in ["on the box: ABC 100004", "đơn abc100004 a@example.com", "Abc_100004, please", "it's abc – 100004"]
    {
        let found = find_order_numbers(text, &words());
        assert_eq!(found[0].number.as_str(), "ABC-100004", "{text:?}");
        assert_eq!(found.len(), 1, "{text:?}");
    }
    for text in ["the abc 12 charger", "abcd 100", "abc", ""] {
        assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
    }
}

#[test]
fn product_name_is_no_order_number() {
    for text in
        ["yes, the USB-C-65 charger", "the thinkpad-x1-14 please", "my SSD-NV3-01 broke", "iphone-15", "covid-19"]
    {
        assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
    }
}

#[test]
fn unlabelled_number_may_be_a_phone() {
    for (text, phone) in [
        ("912345678", Some("912345678")),
        ("it is 14155550123", Some("14155550123")),
        ("order 912345678", None),
        ("77893", None),
        ("ABC-12345678", None),
    ] {
        let found = find_order_numbers(text, &words());
        assert_eq!(found[0].phone().as_ref().map(Phone::as_str), phone, "{text:?}");
    }
}

#[test]
fn phones_prices_dates_and_goods_are_no_orders() {
    for text in [
        "0912345678",
        "my phone is 91234567",
        "sđt 0912 345 678",
        "sđt của mình 0912345678",
        "091 2345678",
        "+84912345678",
        "+84 912345678",
        "555-123-4567",
        "1-800-555-0199",
        "(415) 555-0123",
        "(415)555-0123",
        "+1 (415) 555-0123",
        "1 (415) 555 0123",
        "415 555-0123",
        "415.555.0123",
        "call (028) 38221234",
        "I bought it on 20261103",
        "đặt hôm 03112026 ạ",
        "it cost 1500000 vnd",
        "1500000đ",
        "giá 15000 k",
        "$12999",
        "12999.99",
        "1.500000",
        "15000,50",
        "50000 đồng",
        "20000 mAh",
        "delivered 2026-11-22",
        "22-11-2026",
        "22-11",
        "2025-2026",
        "in 2026",
        "my iphone15 is fine",
        "covid-19 24-hour 30-day",
        "iphone15",
        "buyer-77894@example.com",
        "https://shop.example/orders/77893",
        "RMA-1701234567-ABCD",
        "my ticket TICKET-1701234567-5432",
        "FEDEX-123456789012",
        "hello",
        "100%",
        "",
    ] {
        assert_eq!(find_order_numbers(text, &words()), [], "{text:?}");
    }
}

//! Spellings and what they mean; what supports what.

use std::sync::Arc;

use super::*;

fn lexicon() -> Lexicon {
    Lexicon::read(&crate::persona::Prompts::shipped()).unwrap()
}

/// A value in a few letters, so that a row of a table is one line.
fn short(value: &Value) -> String {
    let text = |amount: &Amount| {
        let millionths = amount.as_millionths();
        let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
        let fraction = format!("{rest:06}");
        format!("{whole}.{fraction}").trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let part = |part: Option<u16>| part.map_or("?".to_owned(), |part| part.to_string());
    match value {
        Value::Money(amount, currency) => format!("{currency} {}", text(amount)),
        Value::Percent(amount) => format!("% {}", text(amount)),
        Value::Date { year, month, day } => {
            format!("date {}-{}-{}", part(*year), part(month.map(u16::from)), part(day.map(u16::from)))
        }
        Value::Time { hour, minute } => format!("time {hour}:{minute:02}"),
        Value::Duration(Span::Seconds(amount)) => format!("s {}", text(amount)),
        Value::Duration(Span::Months(amount)) => format!("months {}", text(amount)),
        Value::Measure(amount, unit) => format!("{unit} {}", text(amount)),
        Value::Weekday(day) => format!("weekday {day}"),
        Value::Phone(digits) => format!("phone {digits}"),
        Value::Code(code) => format!("code {code}"),
        Value::Number(amount) => format!("n {}", text(amount)),
    }
}

fn read_values(text: &str, lexicon: &Lexicon) -> Arc<Values> {
    Arc::new(Values::read(text, lexicon))
}

fn values(text: &str, lexicon: &Lexicon) -> Vec<String> {
    read(text, lexicon).iter().map(|fact| short(&fact.value)).collect()
}

#[test]
fn amount_without_currency_is_in_the_shops() {
    let lexicon = lexicon().in_currency(crate::domain::commerce::Currency::Usd);
    assert_eq!(values("500k", &lexicon), ["usd 500000"]);
    let mut known = Known::default();
    known.add(read_values("Laptop, 1299", &lexicon));
    let supports = |text: &str| known.supports(&read(text, &lexicon)[0]);
    assert_eq!((supports("$1299"), supports("1299 VND")), (true, false));
}

#[test]
fn price_in_shillings_needs_its_source() {
    let lexicon = lexicon().in_currency(crate::domain::commerce::Currency::Kes);
    let mut known = Known::default();
    known.add(read_values("Canvas shoes, KSh 1,250. Delivery 200 bob.", &lexicon));
    let supports = |text: &str| known.supports(&read(text, &lexicon)[0]);
    for (text, supported) in [
        ("1,250/=", true),
        ("Kes 1250", true),
        ("KSh 1,250.00", true),
        ("KSh 200", true),
        ("KSh 1,205", false),
        ("KSh 125", false),
        ("KSh 1,250.50", false),
        ("$1,250", false),
        ("2,500 shillings", false),
    ] {
        assert_eq!(supports(text), supported, "{text}");
    }
}

/// A spelling, then what it means; `|` between several.
const SPELLINGS: &str = include_str!("tests/spellings.tsv");

#[test]
fn every_spelling_is_read_as_what_it_means() {
    let lexicon = lexicon();
    let rows: Vec<(&str, &str)> = SPELLINGS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    assert!(rows.len() >= 120, "{}", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, values(text, &lexicon).join(" | "), expected))
        .filter(|(_, found, expected)| found != **expected)
        .map(|(text, found, expected)| format!("{text}: {found:?}, not {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn invisible_characters_hide_no_number() {
    let lexicon = lexicon();
    for text in [
        "15.**990**.000đ",
        "15\u{200b}.990\u{200d}.000đ",
        "15\u{ad}990000đ",
        "１５.９９０.０００đ",
        "١٥.٩٩٠.٠٠٠đ",
        "१५.९९०.०००đ",
        "15_990_000 đ",
        "`15990000`đ",
        "15~~.990~~.000đ",
        "𝟏𝟓.𝟗𝟗𝟎.𝟎𝟎𝟎đ",
        "1\u{332}5.990.000đ",
        "15\\.990\\.000đ",
        "15’990’000 đ",
        "15\u{a0}990\u{a0}000\u{a0}đ",
        "\u{202e}15.990.000đ",
        "15.990.000\u{2060}₫",
    ] {
        assert_eq!(values(text, &lexicon), ["vnd 15990000"], "{text:?}");
    }
}

#[test]
fn facts_match_by_value_in_any_spelling() {
    let lexicon = lexicon();
    let shop = "Laptop giá 15.990.000đ, bảo hành 24 tháng, đổi trong 7 ngày. Kỳ hạn 3, 6 hoặc 12 tháng, phí 4%. Mở cửa 8:30 đến 20:30, \
        tổng đài 1900 636 979, trước 31/12/2026. RTX 4060 8 GB, Core i5-13420H, SSD 1 TB, 15.6 inch. price: 1890000; Còn: 5. 36 or 60 months.";
    let mut known = Known::default();
    known.add(read_values(shop, &lexicon));
    let fails = |text: &str| -> Vec<String> {
        read(text, &lexicon).iter().filter(|fact| !known.supports(fact)).map(|fact| short(&fact.value)).collect()
    };
    for text in [
        "15,99 triệu",
        "15tr99",
        "15 triệu 990 nghìn",
        "VND 15,990,000",
        "2 năm",
        "hai năm",
        "24 months",
        "24",
        "một tuần",
        "4 phần trăm",
        "8h30",
        "8 giờ 30",
        "8:30 PM",
        "1900636979",
        "31/12",
        "tháng 12",
        "năm 2026",
        "2026",
        "December 31, 2026",
        "RTX4060",
        "8GB",
        "i5 13420H",
        "i5-13420H",
        "1TB",
        "15,6\"",
        "1.890.000đ",
        "1,89 triệu đồng",
        "3 tháng",
        "6 tháng",
        "36 tháng",
        "60 months",
        "3, 6 hoặc 12 tháng",
        "Còn 5 máy",
        "3 lựa chọn",
        "1. Laptop",
        "Bước 2: gọi",
        "[1]",
    ] {
        assert_eq!(fails(text), [""; 0], "{text:?}");
    }
    for text in [
        "16 triệu",
        "khoảng 16 triệu",
        "15.990đ",
        "50%",
        "20 phần trăm",
        "9 năm",
        "31/12/2025",
        "30/12",
        "9:30",
        "1900 636 978",
        "RTX 4090",
        "i7-13420H",
        "2TB",
        "còn 4 máy",
        "chỉ còn 2 sản phẩm",
        "5 triệu",
        "5 tháng",
        "12 ngày",
        "4 năm",
        "8 TB",
        "mười sáu triệu",
        "giảm 500k",
        "0901 234 567",
        "$129",
        "tháng 11",
    ] {
        assert_eq!(fails(text).len(), 1, "{text:?}");
    }
}

#[test]
fn customers_words_support_quantities_but_no_price() {
    let lexicon = lexicon();
    let mut known = Known::default();
    known.add_customer(read_values("Mình có 16 triệu, cần 10 máy RAM 16GB, serial ABC-123, đơn 8823411, sđt 0901 234 567, giảm 50% nhé, bảo hành 5 năm, ngày 31/12", &lexicon));
    let supported = |text: &str| read(text, &lexicon).iter().all(|fact| known.supports(fact));
    for text in [
        "ngân sách 16 triệu",
        "your 16 million budget",
        "10 máy",
        "RAM 16 GB",
        "serial abc123",
        "đơn hàng 8823411",
        "+84 901 234 567",
    ] {
        assert!(supported(text), "{text:?}");
    }
    for text in [
        "giá 16 triệu",
        "16 triệu ạ",
        "máy này giá chỉ 16.000.000đ",
        "giảm 50%",
        "bảo hành 5 năm",
        "31/12",
        "giá 8.823.411",
    ] {
        assert!(!supported(text), "{text:?}");
    }
}

#[test]
fn budget_is_never_quoted_as_price() {
    let lexicon = lexicon();
    let mut known = Known::default();
    known.add_customer(read_values("mình có 1 triệu", &lexicon));
    let reply = "Với ngân sách 1 triệu, em gợi ý chuột giá 390.000đ";
    known.add_reply(reply, &read(reply, &lexicon), &lexicon);
    let supported = |text: &str| read(text, &lexicon).iter().all(|fact| known.supports(fact));
    assert!(supported("giá 390.000đ") && !supported("giá 1.000.000đ"));
}

//! Links and addresses through the filters.

use super::*;

/// The text, followed by one `{link}` for each link that was taken out: a guard may overtake a word that waits for its end.
fn links_last(text: &str) -> String {
    let mut words = text.replace("{link}", "");
    words.extend(text.match_indices("{link}").map(|(_, guard)| guard));
    words
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
        ("vào https://evil.com/x?a=b nhé", "vào …{link} nhé"),
        ("vào (https://evil.com).", "vào (…{link})."),
        ("https://evil.com", "{link}"),
        ("https://evil.com là trang", "{link}… là trang"),
        ("hoặc https://evil.com và https://evil.com ạ.", "hoặc …{link} và …{link} ạ."),
        ("vào https://sstc.vn/sp/9999, nhé", "vào https://sstc.vn/sp/9999, nhé"),
        ("**https://sstc.vn/a_b**", "**https://sstc.vn/a_b**"),
        ("xem https://docs.example.org/khac", "xem https://docs.example.org/khac"),
        ("www.sstc.vn", "www.sstc.vn"),
        ("sstc.vn/khuyen", "sstc.vn/khuyen"),
        ("a <https://evil.com> <b>đậm</b> a < b", "a …{link} đậm a < b"),
        ("<https://sstc.vn>", "<https://sstc.vn>"),
        ("a <img src=\"https://evil.com/a.png\">", "a …{link}"),
        ("[trang][1]\n\n[1]: https://evil.com\nhết", "trang\n\n{link}\nhết"),
        ("[Lưu ý]: còn hàng", "[Lưu ý]: còn hàng"),
        ("hotro@sstc.example, hotro@evil.com.", "hotro@sstc.example, …{link}."),
        ("[không phải liên kết] ạ", "[không phải liên kết] ạ"),
        ("[a](https://evil.com", "[a](…{link}"),
        ("15[.49](https://evil.com)0.000đ", "…{unsupported_fact}{link}"),
        ("a\n```html\n<b>[x](y)</b>  <i> evil.com\n```\n<b>x</b>", "a\n```html\n<b>[x](y)</b>  <i> …{link}\n```\nx"),
    ] {
        assert_eq!(links_last(&shown(&grounding, text)), links_last(expected), "{text:?}");
    }
}

#[test]
fn foreign_addresses_are_known_in_any_spelling() {
    let grounding = grounding();
    for address in [
        "evil.com",
        "EVIL.COM",
        "Evil.Com",
        "t.me/thief",
        "evil。com",
        "evil｡com",
        "ｅｖｉｌ．ｃｏｍ",
        "evil․com",
        "evil[.]com",
        "evil(.)com",
        "evil[dot]com",
        "evil\\.com",
        "hxxp://evil.com",
        "hxxps://evil[.]com/a",
        "www.evil.com",
        "www.evil.notatld",
        "WWW.EVIL.COM",
        "ht\u{200b}tps://evil.com",
        "evil\u{200b}.com",
        "ev\u{ad}il.c\u{2060}om",
        "e**vil**.com",
        "http://185.12.3.4",
        "185.12.3.4/login",
        "185.12.3.4:8080",
        "http://3232235777/",
        "http://[2001:db8::1]/",
        "thief@evil.com",
        "thief[at]evil[.]com",
        "thief＠evil.com",
        "sstc.vn@evil.com",
        "https://sstc.vn@evil.com/",
        "https://sstc.vn:x@evil.com",
        "sstc.vn.evil.com",
        "sstc.vn\\@evil.com",
        "evil.com/sstc.vn",
        "//evil.com/a",
        "xn--80ak6aa92e.com",
        "pаypal.com",
        "bit.ly/abc",
        "evil.com.vn",
        "evil.co.uk",
        "evil.io",
        "evil.xyz",
        "ngan-hang.vn",
        "zalo.me/0901",
        "https:evil.com",
        "ftp://evil.com",
        "javascript:alert",
        "data:text/html;base64,PGI+",
        "mailto:thief@evil.com",
        "evil.com?x=1",
        "evil.com:8443",
        "evil.com.",
        "(evil.com)",
        "xem:evil.com",
        "giá,evil.com,nhé",
        "`evil.com`",
        "\"evil.com\"",
        "evil.com|sstc.vn",
    ] {
        let found = shown(&grounding, &format!("Quý khách vào {address} nhé"));
        let folded = found.to_lowercase();
        let is_gone =
            !["evil", "thief", "185.12", "paypal", "zalo.me", "bit.ly", "ngan-hang.vn", "alert", "base64", "notatld"]
                .iter()
                .any(|part| folded.contains(part));
        assert!(is_gone && (found.contains("{link}") || found.contains("{unsupported_fact}")), "{address:?} {found:?}");
    }
}

/// The first word of a spelled host is shown before the rest is read.
#[test]
fn spelled_hosts_lose_their_suffix() {
    let grounding = grounding();
    for address in [
        "evil dot com",
        "Evil DOT com",
        "evil chấm com",
        "evil chấm com chấm vn",
        "evil (dot) com",
        "evil [dot] com",
        "evil (chấm) com",
        "evil[.] com",
        "evil [.]com",
        "evil . com",
        "evil dot c o m",
        "e v i l . c o m",
        "e v i l dot c o m",
        "e v i l.c o m",
        "(evil dot com)",
        "**evil** dot com",
        "ｅｖｉｌ dot com",
        "www dot evil dot top",
        "evil dot com/login",
        "evil dot me/login",
        "evil dot me slash login",
        "evil dot co dot uk",
        "evil dot com.",
        "sstc dot vn dot evil dot com",
    ] {
        let found = shown(&grounding, &format!("Quý khách vào {address} nhé"));
        let is_left = ["dot", "chấm", "com", "c o m", "[.]", "(.)", " . "].iter().any(|part| found.contains(part));
        assert!(!is_left && found.contains("{link}"), "{address:?} {found:?}");
    }
}

#[test]
fn what_only_looks_like_a_host_passes() {
    let grounding = grounding();
    for text in [
        "v.v",
        "v.v.",
        "RTX 4060.Máy",
        "file.md",
        "README.md",
        "sp.A",
        "xong ạ.Em",
        "rồi.Ai hỏi",
        "xong.Em",
        "được ạ.em chào",
        "tốt.So với",
        "TP.HCM",
        "Q.Bình Thạnh",
        "e.g. laptop",
        "a.m. hoặc p.m.",
        "Ph.D",
        "Node.js",
        "ASP.NET",
        "main.rs",
        "ok...em",
        "laptop/chuột",
        "km/h",
        "Tel: hotline",
        "giá: data: ổn",
        "quý khách@cửa hàng",
        "@sstc",
        "[dog] và (dot)",
        "máy tính…Em",
        "hotro@sstc.example.",
        "sstc chấm vn",
        "w w w . sstc . vn",
        "the dot com bubble",
        "a dot com company",
        "a polka dot top in the shop",
        "Red dot is the best, blue dot in the store",
        "The dot on the screen and the dot at the corner",
        "The red dot in/on the cover",
        "Gel pens, dot grid, dot me down",
        "Is it good . Me too . So is it",
        "I have a b c d e f g",
        "Option A . B or C",
        "nuoc cham com tam",
        "nước chấm cơm tấm",
        "Dạ chấm bài xong em gửi . Vâng ạ",
        "Chấm công, chấm điểm, cham vao day la xong",
        "Em xin chấm dứt hợp đồng",
        "C# . NET",
        "Dạ máy còn hàng . Quý khách ghé shop nhé",
        "I am in. It is on me. Do it so",
        "Dell, HP . ASUS",
    ] {
        assert_eq!(shown(&grounding, text), text, "{text:?}");
    }
}

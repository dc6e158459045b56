//! How much candidates look like serial numbers, by the shipped rules.

use crate::domain::serial::{Likeness, PossibleSerial, most_serial_like};
use crate::persona::Prompts;

#[test]
fn quantities_models_years_and_phones_are_no_serials() {
    let words = Prompts::shipped().serial_words().expect("the shipped rules");
    for (likeness, candidates) in [
        (Likeness::Date, "2024 1999 12-3-2024 2024-12-31 31-12"),
        (
            Likeness::Model,
            "1250000d 15990000vnd 1TB 16GB 8gig 144Hz 27inch 15tr 10pm 9am 45mins 20-25tr 1tr5 8h30 i5-12400F 12400F 7800X3D 4060Ti RTX4060 RTX-4060 RX7600 \
             DDR5 B660 B760M H610M-E G102 iPhone15 PS5 win11 1080p 3200MHz 2x8GB 650W 5600X i7-13620H",
        ),
        (Likeness::Phone, "0912345678 84912345678 0912-345-678 02838123456 1900636979"),
        (Likeness::Number, "123 123456 20231187 998877665544"),
        (
            Likeness::Serial,
            "ABC123 XYZ-789 SN-998877 5CD1234ABC 8HJK22L1 PF3K9L22 GV-4060-8812 S6XNNS0T LT-5590 7CX2210PLM AB1001 \
             BH2024-0098 5CG9348XYZ 998-AAA-1",
        ),
    ] {
        for candidate in candidates.split_whitespace() {
            assert_eq!(words.likeness(candidate), likeness, "{candidate}");
        }
    }
}

#[test]
fn long_mixed_candidates_rank_highest() {
    let words = Prompts::shipped().serial_words().expect("the shipped rules");
    for (candidates, best) in [
        (vec![], None),
        (vec!["2024"], Some("2024")),
        (vec!["1TB", "ABC123"], Some("ABC123")),
        (vec!["ABC123", "0912345678", "2024"], Some("ABC123")),
        (vec!["0912345678", "998877"], Some("998877")),
        (vec!["ABC123", "PF3K9L22"], Some("PF3K9L22")),
        (vec!["ABC123", "XYZ789"], Some("ABC123")),
        (vec!["2024", "16GB"], Some("16GB")),
    ] {
        let possible =
            |text: &&str| PossibleSerial { text: (*text).to_owned(), looks: words.likeness(text), known: None };
        let possible: Vec<PossibleSerial> = candidates.iter().map(possible).collect();
        assert_eq!(most_serial_like(possible.iter()).map(|serial| serial.text.as_str()), best, "{candidates:?}");
    }
}

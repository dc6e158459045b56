//! Which items of an order a customer names.

use unicode_normalization::UnicodeNormalization;

use super::state::ItemSnapshot;
use crate::dialogue::utterance::KeptGoods;
use crate::domain::text::{Spelling, singular};

/// A shorter word within an item's name names no item: "a", "of", "xl".
const TELLING_LETTERS: usize = 4;
/// The first and the last word of a name are nouns, which may be shorter: "Blue Mug", "Túi xách".
const TELLING_NOUN_LETTERS: usize = 3;

/// The words of a text. English plurals lose their ending: a mug is one of the "Mugs".
fn words(text: &str) -> Vec<Spelling> {
    let composed: String = text.nfc().flat_map(char::to_lowercase).collect();
    let words = composed.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| Spelling::of(singular(word))).collect()
}

/// Returns the lines that the text names. A word that two items share ("winter boots", "winter jacket") names neither.
pub(super) fn named(items: &[ItemSnapshot], said: &str) -> Vec<u32> {
    let said = words(said);
    let names: Vec<Vec<Spelling>> = items.iter().map(|item| words(&item.name)).collect();
    let is_own = |at: usize, word: &Spelling| {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != at);
        !others.any(|(_, name)| name.iter().any(|other| other.folded == word.folded))
    };
    let is_named = |at: usize| {
        let name = &names[at];
        let mut telling = name.iter().enumerate().filter(|(place, word)| tells(name, *place, word));
        telling.any(|(_, word)| said.iter().any(|said| said.can_mean(word)) && is_own(at, word))
    };
    items.iter().enumerate().filter(|(at, _)| is_named(*at)).map(|(_, item)| item.line).collect()
}

/// Whether a word of a name is enough to name the item.
fn tells(name: &[Spelling], place: usize, word: &Spelling) -> bool {
    let is_noun = place == 0 || place + 1 == name.len();
    // "Áo" and "Mũ" have two letters; their marks, or being the whole name, tell them from other words.
    let is_marked = word.has_diacritics();
    let least = match (is_noun, name.len() == 1 || (place == 0 && is_marked)) {
        (true, true) => TELLING_NOUN_LETTERS - 1,
        (true, false) => TELLING_NOUN_LETTERS,
        _ => TELLING_LETTERS,
    };
    word.folded.chars().count() >= least && word.folded.chars().any(char::is_alphabetic)
}

/// Returns the lines that a message wants: those that it names, or else those of `among`, without those that it keeps. A message
/// that keeps none has to name them.
pub(super) fn wanted(items: &[ItemSnapshot], among: &[u32], goods: &KeptGoods) -> Vec<u32> {
    let (wanted, kept) = (named(items, &goods.wanted), named(items, &goods.kept));
    if kept.is_empty() {
        return wanted;
    }
    let all = items.iter().map(|item| item.line).collect();
    let without_kept = |lines: Vec<u32>| lines.into_iter().filter(|line| !kept.contains(line)).collect::<Vec<_>>();
    let mut choices = [wanted, among.to_vec(), all].into_iter().map(without_kept);
    choices.find(|lines| !lines.is_empty()).unwrap_or_default()
}

/// Returns the lines that the text names, if it names some and not all.
pub(super) fn part_of(items: &[ItemSnapshot], said: &str) -> Option<Vec<u32>> {
    Some(named(items, said)).filter(|lines| !lines.is_empty() && lines.len() < items.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desks::returns::tests::sample;

    fn items(names: &[&str]) -> Vec<ItemSnapshot> {
        (1..).zip(names).map(|(line, name)| sample::item(line, name)).collect()
    }

    #[test]
    fn goods_that_are_kept_stay_out() {
        let rules = crate::desks::returns::rules::tests::rules();
        let english = &["Hiking Boots", "Wool Socks", "Cap"];
        let vietnamese = &["Giày leo núi", "Tất len dày", "Mũ len"];
        for (names, shown, said, expected) in [
            (
                english,
                &[1, 2, 3][..],
                "return everything from 77893 except the socks, john.doe@example.com",
                &[1, 3][..],
            ),
            (english, &[1, 2, 3], "yes, but not the socks", &[1, 3]),
            (english, &[1, 2], "yes, except the socks", &[1]),
            (english, &[2], "everything except the socks", &[1, 3]),
            (english, &[1, 2, 3], "return it all, but not the socks", &[1, 3]),
            (english, &[1, 2, 3], "send back all but the socks because the boots and the cap fit", &[1, 3]),
            (english, &[1, 2, 3], "Return the boots, keep the socks", &[1]),
            (english, &[1, 2, 3], "return the boots but not the socks", &[1]),
            (english, &[1, 2, 3], "I don't want to return the socks", &[1, 3]),
            (vietnamese, &[1, 2, 3], "tất cả trừ đôi tất", &[1, 3]),
            (vietnamese, &[1, 2, 3], "trả hết đơn 77893 trừ đôi giày", &[2, 3]),
        ] {
            let goods = rules.kept_goods(said).unwrap_or_default();
            assert_eq!(wanted(&items(names), shown, &goods), expected, "{said}");
        }
    }

    #[test]
    fn liked_or_unkept_goods_are_not_kept() {
        let rules = crate::desks::returns::rules::tests::rules();
        for said in [
            "Everything fits, except the socks",
            "everything except the socks fits",
            "I can't keep the boots",
            "I don't think I'll keep the boots",
            "I don't really want to keep the boots",
            "I don't intend to keep the boots",
            "I can not return the boots",
            "my feet keep slipping in the boots",
            "I want to keep everything except the socks",
            "I received everything except the socks",
            "return the boots and the socks",
            "trả giày có bị trừ tiền không",
            "em không trả đôi giày được sao",
        ] {
            assert_eq!(rules.kept_goods(said), None, "{said}");
        }
    }

    #[test]
    fn unique_word_names_its_item() {
        let rules = crate::desks::returns::rules::tests::rules();
        for (names, said, wanted) in [
            (&["Hiking Boots", "Wool Socks"][..], "yes, only the socks", &[2][..]),
            (&["Hiking Boots", "Wool Socks"], "the boots and the socks", &[1, 2]),
            (&["Hiking Boots", "Wool Socks"], "one of the boots", &[1]),
            (&["Hiking Boots", "Wool Socks"], "yes", &[]),
            (&["Winter Boots", "Winter Jacket"], "the winter boots", &[1]),
            (&["Winter Boots", "Winter Jacket"], "winter is over", &[]),
            (&["Giày leo núi", "Tất len dày"], "chỉ trả giay thôi", &[1]),
            (&["Giày leo núi", "Tất len dày"], "trả tất cả giúp em", &[]),
            (&["Hiking Boots", "Wool Socks"], "tra tat ca don nay", &[]),
            (&["Hiking Boots", "Wool Socks"], "trả tất cả tất", &[2]),
            (&["Socks", "Socks"], "the socks", &[]),
            (&["Size XL shirt", "Cap"], "xl is too big", &[]),
            (&["Size XL shirt", "Cap"], "the cap only", &[2]),
            (&["Vase", "Mug"], "return just the mug from 88006", &[2]),
            (&["Vase", "Mug"], "the vase and the mug", &[1, 2]),
            (&["Glass Vase", "Coffee Mugs"], "only one mug", &[2]),
            (&["Red Hat", "Pen"], "both the hat and the pen", &[1, 2]),
            (&["The Cap", "Xbox One"], "all of the order, not only one", &[]),
            (&["Cup for tea", "Set of 3 bowls"], "set it up for 3 days", &[]),
            (&["Áo thun", "Mũ len"], "chỉ trả áo thôi", &[1]),
            (&["Áo thun", "Mũ len"], "trả cái mũ", &[2]),
            (&["Ví da", "Túi xách"], "trả túi vì chật", &[2]),
            (&["Ví da", "Túi xách"], "tra cai tui", &[2]),
            (&["Ly sứ", "Bình hoa"], "chỉ cái bình thôi", &[2]),
        ] {
            assert_eq!(named(&items(names), &rules.without_not_items(said)), wanted, "{names:?}: {said}");
        }
    }
}

//! Which items of an order a customer names.

use super::state::SeenItem;
use crate::domain::text::words;

/// A shorter word of an item's name names no item: "a", "of", "xl".
const TELLING_LETTERS: usize = 4;

/// The lines whose names stand in the customer's words. A word of two items' names ("winter boots", "winter jacket") tells
/// neither.
pub(super) fn named(items: &[SeenItem], said: &str) -> Vec<u32> {
    let said = words(said);
    let names: Vec<Vec<String>> = items.iter().map(|item| words(&item.name)).collect();
    let is_own = |at: usize, word: &String| {
        let mut others = names.iter().enumerate().filter(|(other, _)| *other != at);
        !others.any(|(_, name)| name.contains(word))
    };
    let is_named = |at: usize| {
        let mut telling = names[at].iter().filter(|word| word.chars().count() >= TELLING_LETTERS);
        telling.any(|word| said.contains(word) && is_own(at, word))
    };
    items.iter().enumerate().filter(|(at, _)| is_named(*at)).map(|(_, item)| item.line).collect()
}

/// The lines that are named where others are not; `None`: none of them is, or all.
pub(super) fn part_of(items: &[SeenItem], said: &str) -> Option<Vec<u32>> {
    Some(named(items, said)).filter(|lines| !lines.is_empty() && lines.len() < items.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_named_by_a_word_that_no_other_item_has() {
        let items = |names: &[&str]| -> Vec<SeenItem> {
            let item =
                |(at, name): (usize, &&str)| SeenItem { line: at as u32 + 1, name: (*name).to_owned(), quantity: 1 };
            names.iter().enumerate().map(item).collect()
        };
        for (names, said, wanted) in [
            (&["Hiking Boots", "Wool Socks"][..], "yes, only the socks", &[2][..]),
            (&["Hiking Boots", "Wool Socks"], "the boots and the socks", &[1, 2]),
            (&["Hiking Boots", "Wool Socks"], "yes", &[]),
            (&["Winter Boots", "Winter Jacket"], "the winter boots", &[1]),
            (&["Winter Boots", "Winter Jacket"], "winter is over", &[]),
            (&["Giày leo núi", "Tất len dày"], "chỉ trả giay thôi", &[1]),
            (&["Socks", "Socks"], "the socks", &[]),
            (&["Size XL shirt", "Cap"], "xl is too big", &[]),
        ] {
            assert_eq!(named(&items(names), said), wanted, "{names:?}: {said}");
        }
    }
}

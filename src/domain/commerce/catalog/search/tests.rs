//! Searches in small catalogues.

use proptest::prelude::*;

use super::*;

fn item(id: &str, name: &str, category: &str, shillings: i64, stock: u32) -> CatalogItem {
    CatalogItem {
        id: id.parse().expect("an id"),
        name: name.to_owned(),
        category: category.to_owned(),
        description: String::new(),
        price: price(shillings),
        stock,
        attributes: BTreeMap::new(),
        variants: BTreeMap::new(),
        url: None,
    }
}

fn price(shillings: i64) -> Money {
    Money::new(shillings * 100, CATALOG_CURRENCY)
}

fn catalog() -> Vec<CatalogItem> {
    let attributes = |brand: &str| [("brand".to_owned(), brand.to_owned())].into();
    let sizes = |sizes: &[&str]| [("size".to_owned(), sizes.iter().map(|size| (*size).to_owned()).collect())].into();
    vec![
        CatalogItem {
            attributes: attributes("Bata"),
            variants: sizes(&["40", "41"]),
            ..item("C1", "Canvas shoes", "Shoes", 1_250, 3)
        },
        CatalogItem { variants: sizes(&["42"]), ..item("C2", "Red canvas shoes", "Shoes", 1_400, 0) },
        CatalogItem { attributes: attributes("Safari"), ..item("B1", "Leather boots", "Shoes", 3_200, 5) },
        CatalogItem {
            description: "A bag of canvas for school".to_owned(),
            ..item("G1", "School bag", "Bags", 1_800, 9)
        },
        item("K1", "Kikoi ya watoto", "Nguo", 900, 20),
    ]
}

fn query(text: &str, filters: CatalogFilters, limit: u8) -> CatalogQuery {
    CatalogQuery { words: SearchWords::of(text), filters, limit: limit.try_into().expect("a limit") }
}

fn ids(found: &CatalogMatches) -> Vec<&str> {
    found.items.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn best_matches_come_first() {
    for (text, expected, total, confidence) in [
        ("canvas shoes", &["C1", "C2"][..], 2, 1.0),
        ("SHOE, canvas!", &["C1", "C2"], 2, 1.0),
        ("red canvas shoes", &["C2"], 1, 1.0),
        ("boots", &["B1"], 1, 1.0),
        ("leather boots size", &["B1"], 1, 2.0 / 3.0),
        ("kiko watoto", &["K1"], 1, 0.85),
        ("canvas", &["C1", "C2", "G1"], 3, 1.0),
        ("shoes 42", &["C2"], 1, 1.0),
        ("bata", &["C1"], 1, 1.0),
        ("blue helicopter", &[], 0, 0.0),
        ("", &["G1", "C1", "K1", "B1", "C2"], 5, 1.0),
    ] {
        let found = search(catalog(), &query(text, CatalogFilters::default(), 6));
        let mut found_ids = ids(&found);
        if text.is_empty() {
            found_ids.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(found_ids, expected);
        } else {
            assert_eq!(found_ids, expected, "{text}");
        }
        assert_eq!(found.total_matches_estimate, total, "{text}");
        assert!((found.confidence - confidence).abs() < 1e-9, "{text}: {}", found.confidence);
    }
}

#[test]
fn every_filter_narrows_the_results() {
    let all = CatalogFilters::default;
    let attributes = |name: &str, value: &str| [(name.to_owned(), value.to_owned())].into();
    for (filters, expected) in [
        (CatalogFilters { category: Some("shoes ".to_owned()), ..all() }, &["B1", "C1", "C2"][..]),
        (CatalogFilters { min_price: Some(1_400), ..all() }, &["B1", "C2", "G1"]),
        (CatalogFilters { max_price: Some(1_250), ..all() }, &["C1", "K1"]),
        (CatalogFilters { in_stock: true, ..all() }, &["B1", "C1", "G1", "K1"]),
        (CatalogFilters { attributes: attributes("Brand", "bata"), ..all() }, &["C1"]),
        (CatalogFilters { attributes: attributes("size", "42"), ..all() }, &["C2"]),
        (CatalogFilters { attributes: attributes("colour", "red"), ..all() }, &[]),
    ] {
        let found = search(catalog(), &query("", filters.clone(), 6));
        let mut found = ids(&found);
        found.sort_unstable();
        assert_eq!(found, expected, "{filters:?}");
    }
}

#[test]
fn limit_is_one_to_six() {
    assert_eq!([0, 7, 255].map(SearchLimit::try_from), [Err(InvalidLimit); 3]);
    let found = search(catalog(), &query("", CatalogFilters::default(), 2));
    assert_eq!((found.items.len(), found.total_matches_estimate), (2, 5));
}

const WORDS: [&str; 8] = ["red", "blue", "shoe", "shoes", "bag", "canvas", "42", "kikoi"];

prop_compose! {
    fn any_item()(
        id in "[A-Z]{6}", name in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4),
        category in prop::sample::select(vec!["Shoes", "Bags"]), shillings in 1..5_000_i64, stock in 0..3_u32,
        description in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4),
    ) -> CatalogItem {
        CatalogItem { description: description.join(" "), ..item(&id, &name.join(" "), category, shillings, stock) }
    }
}

prop_compose! {
    fn any_query()(
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4), limit in 1..=6_u8,
        category in prop::option::of(prop::sample::select(vec!["shoes", "bags", "hats"])),
        min_price in prop::option::of(1..5_000_i64), max_price in prop::option::of(1..5_000_i64), in_stock: bool,
    ) -> CatalogQuery {
        let category = category.map(str::to_owned);
        query(&words.join(" "), CatalogFilters { category, min_price, max_price, in_stock, ..CatalogFilters::default() }, limit)
    }
}

proptest! {
    // Feature: tulia-ai-v2-langgraph-refactor, Property 6: Product Discovery Constraints
    #[test]
    fn search_shows_few_items_that_fulfil_the_filters(
        items in prop::collection::vec(any_item(), 0..40), query in any_query(),
    ) {
        let found = search(items.clone(), &query);
        prop_assert!(found.items.len() <= query.limit.get() && query.limit.get() <= 6);
        prop_assert_eq!(found.items.len(), found.total_matches_estimate.min(query.limit.get()));
        prop_assert!(found.items.iter().all(|item| query.filters.accept(item) && items.contains(item)));
        prop_assert!((0.0..=1.0).contains(&found.confidence));
        prop_assert_eq!(found.items.is_empty(), found.confidence == 0.0);
    }

    #[test]
    fn search_ignores_the_order_of_rows(
        mut items in prop::collection::vec(any_item(), 0..20), query in any_query(),
    ) {
        items.sort_by(|a, b| a.id.cmp(&b.id));
        items.dedup_by(|a, b| a.id == b.id);
        let found = search(items.clone(), &query);
        items.reverse();
        prop_assert_eq!(search(items, &query), found);
    }

    #[test]
    fn matched_words_are_in_the_searched_text(items in prop::collection::vec(any_item(), 1..20), query in any_query()) {
        let found = search(items.clone(), &query);
        for item in found.items.iter().filter(|_| !query.words.is_empty()) {
            let text = searched_text(item);
            prop_assert!(query.words.iter().any(|word| text.contains(word)), "{:?} not in {text}", query.words);
        }
    }
}

#[test]
fn plurals_match_their_singular() {
    for (plural, one) in [
        ("shoes", "shoe"),
        ("dresses", "dress"),
        ("brushes", "brush"),
        ("watches", "watch"),
        ("boxes", "box"),
        ("axes", "axe"),
        ("dress", "dress"),
    ] {
        assert_eq!(singular(plural), one);
        let items = [item("A", one, "Goods", 1, 1)];
        assert_eq!(ids(&search(items, &query(plural, CatalogFilters::default(), 6))), ["A"], "{plural}");
    }
}

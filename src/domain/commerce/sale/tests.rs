use proptest::prelude::*;

use super::*;
use crate::domain::commerce::Currency;

fn kes(shillings: i64) -> Money {
    Money::new(shillings * 100, Currency::Kes)
}

fn item(id: &str, price: i64, sizes: &[&str]) -> CatalogItem {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    CatalogItem {
        id: id.parse().expect("an id"),
        name: format!("Item {id}"),
        category: "Shoes".to_owned(),
        description: String::new(),
        price: kes(price),
        stock: 5,
        attributes: BTreeMap::new(),
        variants: if sizes.is_empty() { BTreeMap::new() } else { [("size".to_owned(), sizes)].into() },
        url: None,
    }
}

fn line(id: &str, quantity: u32, size: Option<&str>) -> CartLine {
    let choices = size.map(|size| ("size".to_owned(), size.to_owned())).into_iter().collect();
    CartLine { item: id.parse().expect("an id"), quantity, choices }
}

#[test]
fn order_number_is_a_letter_and_five_digits() {
    assert_eq!("#k48213".parse().map(|id: SaleId| id.to_string()).as_deref(), Ok("K48213"));
    for bad in ["", "K4821", "K482134", "48213K", "I48213", "É4821", "K4821x"] {
        assert_eq!(bad.parse::<SaleId>(), Err(InvalidSaleId), "{bad}");
    }
}

#[test]
fn cart_is_checked_against_the_goods() {
    let (shoes, socks) = (item("S", 1_250, &["40", "41"]), item("P", 150, &[]));
    let goods = |id: &ItemId| [&shoes, &socks].into_iter().find(|item| item.id == *id).map(|item| (item, item.stock));
    let priced = |cart: &[CartLine]| price(cart, goods).map(|(_, total)| total);
    assert_eq!(priced(&[line("S", 2, Some("40")), line("P", 1, None)]), Ok(kes(2_650)));
    assert_eq!(priced(&[]), Err(CannotOrder::Empty));
    assert_eq!(priced(&[line("X", 1, None)]), Err(CannotOrder::NoItem("X".parse().expect("an id"))));
    for cart in [line("P", 0, None), line("P", 100, None)] {
        assert_eq!(priced(&[cart]), Err(CannotOrder::Quantity(socks.id.clone())));
    }
    for size in [None, Some("39")] {
        let refused = priced(&[line("S", 1, size)]);
        assert_eq!(refused, Err(CannotOrder::Choice { item: shoes.id.clone(), variant: "size".to_owned() }));
    }
    let two_sizes = [line("S", 3, Some("40")), line("S", 3, Some("41"))];
    assert!(matches!(priced(&two_sizes), Err(CannotOrder::Stock { left: 5, .. })));
    assert_eq!(priced(&vec![line("P", 1, None); 21]), Err(CannotOrder::TooManyLines));
}

#[test]
fn coupon_counts_for_its_goods_until_it_ends() {
    let (now, later) = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH + TimeDelta::days(1));
    let offer = Offer {
        code: "KARIBU10".to_owned(),
        terms: String::new(),
        discount: Discount::Percent(10),
        min_total: Some(kes(1_000)),
        categories: vec!["shoes".to_owned()],
        ends_at: later,
    };
    let goods = |prices: &[(&'static str, i64)]| -> Vec<(&'static str, Money)> {
        prices.iter().map(|(category, price)| (*category, kes(*price))).collect()
    };
    assert_eq!(offer.discount_on(&goods(&[("Shoes", 1_255), ("Bags", 1_600)]), now), Ok(kes(125)));
    assert_eq!(offer.discount_on(&goods(&[("Bags", 1_600)]), now), Err(CouponRefused::OtherGoods));
    assert_eq!(offer.discount_on(&goods(&[("Shoes", 999)]), now), Err(CouponRefused::BelowMinimum(kes(1_000))));
    assert_eq!(offer.discount_on(&goods(&[("Shoes", 1_255)]), later), Err(CouponRefused::Ended));
    let amount = Offer { discount: Discount::Amount(kes(5_000)), ..offer };
    assert_eq!(amount.discount_on(&goods(&[("Shoes", 1_255)]), now), Ok(kes(1_255)));
}

proptest! {
    // Feature: tulia-ai-v2-langgraph-refactor, Property 7: Secure Payment Processing
    #[test]
    fn total_is_the_sum_of_the_goods(quantities in prop::collection::vec((0_usize..3, 1_u32..=2), 1..8)) {
        let goods = [item("A", 1_250, &[]), item("B", 150, &[]), item("C", 5_200, &[])];
        let mut cart = Vec::new();
        for (at, quantity) in &quantities {
            add(&mut cart, line(goods[*at].id.as_str(), *quantity, None));
        }
        let available = |id: &ItemId| goods.iter().find(|item| item.id == *id).map(|item| (item, 99));
        let (lines, total) = price(&cart, available).expect("a cart");
        let expected: i64 = quantities.iter().map(|(at, quantity)| goods[*at].price.minor * i64::from(*quantity)).sum();
        prop_assert_eq!(total.minor, expected);
        prop_assert!(lines.len() <= 3, "the same item is one line");
    }

    #[test]
    fn discount_is_never_more_than_the_goods(price in 1_i64..100_000, percent in 0_u8..=255, amount in 0_i64..200_000) {
        for discount in [Discount::Percent(percent), Discount::Amount(kes(amount))] {
            let offer = Offer {
                code: "A".to_owned(), terms: String::new(), discount, min_total: None, categories: Vec::new(),
                ends_at: DateTime::UNIX_EPOCH + TimeDelta::days(1),
            };
            let off = offer.discount_on(&[("Shoes", kes(price))], DateTime::UNIX_EPOCH).expect("a discount");
            let totals = Totals::new(kes(price), off).expect("totals");
            prop_assert!(off.minor % 100 == 0 && totals.total.minor >= 0 && totals.total.minor + off.minor == price * 100);
        }
    }
}

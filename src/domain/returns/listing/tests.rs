use super::*;
use crate::domain::identity::contact::Contact;

const GOOD: [(Field, &str); 9] = [
    (Field::OrderNumber, "77893"),
    (Field::CustomerEmail, "a@b.vn"),
    (Field::CustomerName, "An"),
    (Field::Status, "Delivered"),
    (Field::OrderedAt, "2026-11-01"),
    (Field::Currency, "USD"),
    (Field::ItemName, "Boots"),
    (Field::UnitPrice, "129.99"),
    (Field::DeliveredAt, "2026-11-05"),
];

type Fields = BTreeMap<Field, String>;

/// A good row, but for those fields. An empty text: the field is not there.
fn with(changes: &[(Field, &str)]) -> Fields {
    let fields = GOOD.iter().chain(changes).map(|(field, text)| (*field, (*text).to_owned()));
    let mut fields: Fields = fields.collect();
    fields.retain(|_, text| !text.is_empty());
    fields
}

/// Reads rows, from place 2 on.
fn read(list: &[Fields]) -> (Vec<ListedOrder>, Vec<BadRow>) {
    let rows: Vec<Row> = (2..).zip(list).map(|(place, fields)| Row { place, fields: fields.clone() }).collect();
    orders_of(&rows, &TenantId::default(), chrono_tz::Asia::Ho_Chi_Minh)
}

#[test]
fn rows_of_one_number_are_one_order() {
    let two = with(&[(Field::ItemName, "Poles"), (Field::UnitPrice, "59"), (Field::Quantity, "2")]);
    let other = with(&[(Field::OrderNumber, "abc-1234"), (Field::Paid, "100.00")]);
    let (orders, bad) = read(&[with(&[]), two, other]);
    assert_eq!(bad, []);
    let seen: Vec<String> = orders
        .iter()
        .map(|listed| {
            let order = &listed.order;
            let lines: Vec<_> = order.items.iter().map(|item| (item.line, item.quantity)).collect();
            format!("{} {} {lines:?}", order.number, order.paid)
        })
        .collect();
    assert_eq!(seen, ["77893 247.99 USD [(1, 1), (2, 2)]", "ABC-1234 100.00 USD [(1, 1)]"]);
    let order = &orders[0].order;
    assert_eq!((orders[0].is_vip, order.customer.is_vip), (None, false));
    // Noon in Vietnam.
    assert_eq!(order.ordered_at.to_rfc3339(), "2026-11-01T05:00:00+00:00");
}

#[test]
fn a_moment_is_written_in_many_ways() {
    for (text, expected) in [
        ("2026-11-01T08:30:00Z", "2026-11-01T08:30:00+00:00"),
        ("2026-11-01T08:30:00+07:00", "2026-11-01T01:30:00+00:00"),
        ("2026-11-01T08:30:00.123456789Z", "2026-11-01T08:30:00.123456+00:00"),
        ("2026-11-01 08:30", "2026-11-01T01:30:00+00:00"),
        ("2026-11-01 08:30:15", "2026-11-01T01:30:15+00:00"),
        ("01/11/2026", "2026-11-01T05:00:00+00:00"),
        ("01/11/2026 23:59", "2026-11-01T16:59:00+00:00"),
    ] {
        let (orders, bad) = read(&[with(&[(Field::OrderedAt, text)])]);
        assert_eq!((orders[0].order.ordered_at.to_rfc3339().as_str(), bad.len()), (expected, 0), "{text}");
    }
}

#[test]
fn invalid_row_error_names_field_and_fix() {
    for (field, text, says) in [
        (Field::OrderNumber, "", "it is empty"),
        (Field::OrderNumber, "7789", "5 to 40"),
        (Field::CustomerEmail, "an", "name@example.com"),
        (Field::CustomerName, "a\0b", "control character"),
        (Field::Status, "Lost", "none of Pending, Shipped"),
        (Field::OrderedAt, "2026-02-30", "no such day"),
        (Field::OrderedAt, "soon", "YYYY-MM-DD"),
        (Field::Currency, "GBP", "none of USD, EUR"),
        (Field::ItemName, "", "it is empty"),
        (Field::UnitPrice, "1,299.00", "129.99"),
        (Field::UnitPrice, "1.999", "thousands separators"),
        (Field::UnitPrice, "1.9999", "2 decimals"),
        (Field::DeliveredAt, "2026-10-01", "before the order"),
        (Field::Quantity, "0", "whole number"),
        (Field::Quantity, "two", "whole number"),
        (Field::Paid, "-1", "no amount"),
        (Field::Line, "0", "whole number"),
    ] {
        let (orders, bad) = read(&[with(&[(field, text)])]);
        assert_eq!((orders.len(), bad.len()), (0, 1), "{field} {text:?}");
        assert_eq!((bad[0].place, bad[0].field, bad[0].value.as_str()), (2, field, text));
        assert!(bad[0].hint.contains(says), "{} lacks {says:?}", bad[0].hint);
    }
    let several = with(&[(Field::CustomerEmail, "an"), (Field::Status, "Lost"), (Field::UnitPrice, "x")]);
    let fields: Vec<Field> = read(&[several]).1.into_iter().map(|bad| bad.field).collect();
    assert_eq!(fields, [Field::CustomerEmail, Field::Status, Field::UnitPrice], "all errors of a row are reported");
    for status in ["Return_Initiated", "returned"] {
        let (orders, bad) = read(&[with(&[(Field::Status, status)])]);
        assert_eq!((orders.len(), bad[0].field), (0, Field::Status));
        assert!(bad[0].hint.contains("list the order as Delivered"), "{}", bad[0].hint);
    }
    let early = read(&[with(&[(Field::Status, "Shipped")])]).1;
    assert_eq!((early.len(), early[0].field), (1, Field::DeliveredAt));
}

#[test]
fn one_invalid_row_excludes_its_order() {
    let bad_twin = with(&[(Field::ItemName, "Poles"), (Field::UnitPrice, "x")]);
    let fine = with(&[(Field::OrderNumber, "ABC-1234")]);
    let good = with(&[]);
    for list in [[&good, &bad_twin, &fine], [&bad_twin, &good, &fine]] {
        let (orders, bad) = read(&list.map(Clone::clone));
        let numbers: Vec<&str> = orders.iter().map(|listed| listed.order.number.as_str()).collect();
        assert_eq!((numbers, bad.len()), (vec!["ABC-1234"], 1));
    }
}

#[test]
fn conflicting_and_repeated_rows_are_refused() {
    for (second, field) in [
        (with(&[(Field::CustomerName, "Another")]), Field::OrderNumber),
        (with(&[(Field::ItemName, "Poles"), (Field::Paid, "5")]), Field::OrderNumber),
        (with(&[]), Field::ItemName),
        (with(&[(Field::ItemName, "Poles"), (Field::Line, "1")]), Field::Line),
    ] {
        let (orders, bad) = read(&[with(&[]), second]);
        assert_eq!((orders.len(), bad.len(), bad[0].place, bad[0].field), (0, 1, 3, field), "{bad:?}");
    }
}

#[test]
fn customer_flags_agree_across_orders() {
    let number = Field::OrderNumber;
    let first = with(&[
        (number, "AB-1001"),
        (Field::OrderedAt, "2026-10-01"),
        (Field::DeliveredAt, "2026-10-05"),
        (Field::CustomerName, "An N."),
        (Field::UserId, "u-1"),
        (Field::FraudFlag, "true"),
        (Field::Phone, "0912345678"),
    ]);
    let newest = with(&[(number, "AB-1002"), (Field::CustomerName, "An Nguyễn"), (Field::CustomerEmail, "A@b.vn")]);
    let other = with(&[(number, "AB-1003"), (Field::CustomerEmail, "c@b.vn"), (Field::IsVip, "true")]);
    for list in [[&first, &newest, &other], [&other, &newest, &first]] {
        let (orders, bad) = read(&list.map(Clone::clone));
        assert_eq!(bad, []);
        let seen: Vec<_> = orders
            .iter()
            .map(|listed| {
                let customer = &listed.order.customer;
                (
                    listed.order.number.as_str(),
                    customer.name.as_str(),
                    customer.user_id.as_deref(),
                    listed.is_vip,
                    listed.fraud_flag,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("AB-1001", "An Nguyễn", Some("u-1"), None, Some(true)),
                ("AB-1002", "An Nguyễn", Some("u-1"), None, Some(true)),
                ("AB-1003", "An", None, Some(true), None),
            ]
        );
        assert_eq!(orders[0].order.customer, orders[1].order.customer);
    }
}

#[test]
fn phone_belongs_to_the_order() {
    let with_phone = with(&[(Field::Phone, "0912345678")]);
    let without = with(&[(Field::OrderNumber, "AB-1001")]);
    let (orders, _) = read(&[with_phone, without]);
    let contact = Contact::Phone("0912345678".parse().unwrap());
    let opened: Vec<bool> = orders.iter().map(|listed| listed.order.has_contact(&contact)).collect();
    assert_eq!(opened, [true, false]);
}

#[test]
fn contradictory_orders_of_one_customer_are_refused() {
    let says = |number, vip| with(&[(Field::OrderNumber, number), (Field::IsVip, vip)]);
    let stranger = with(&[(Field::OrderNumber, "AB-1004"), (Field::CustomerEmail, "c@b.vn"), (Field::IsVip, "no")]);
    let (orders, bad) = read(&[says("AB-1001", "yes"), says("AB-1002", "no"), says("AB-1003", ""), stranger]);
    let numbers: Vec<&str> = orders.iter().map(|listed| listed.order.number.as_str()).collect();
    assert_eq!(numbers, ["AB-1003", "AB-1004"]);
    assert_eq!(orders[0].is_vip, None);
    let bad_rows: Vec<_> = bad.iter().map(|row| (row.place, row.field, row.value.as_str())).collect();
    assert_eq!(bad_rows, [(2, Field::IsVip, "true"), (3, Field::IsVip, "false")]);
    assert!(bad[0].hint.contains("row 3") && bad[1].hint.contains("row 2"), "{bad:?}");
}

//! `frontdesk import offers`.

use super::shop::Shop;

const HEADER: &str = "code,terms,discount,ends,min_total,categories,note\n";

#[test]
fn offers_import_is_all_or_nothing() {
    let shop = Shop::new();
    shop.run(&["seed", "commerce"], &[]);
    let import = |tenant: &str, rows: &str, arguments: &[&str]| {
        shop.write("offers.csv", &format!("{HEADER}{rows}"));
        let command = ["import", "offers", "--file", "offers.csv", "--tenant", tenant];
        shop.run(&[&command[..], arguments].concat(), &[])
    };
    let good = "KARIBU10,15 % off,15%,2099-12-31,,sandals|Shoes,x\nBOOTS300,KSh 300 off,300,31/12/2099,2000,Boots,\n";
    let dry = import("savanna", good, &["--dry-run"]);
    assert_eq!((dry.code, dry.stdout.trim()), (Some(0), "1 new, 1 changed, 0 unchanged offers, 0 refused rows"));
    assert_eq!(dry.stderr, "ignored columns: \"note\"\ndry run: nothing was written\n");
    let bad = format!("{good}HATS,Hats,10%,2099-12-31,,Hats,\nCHEAP,Cheap,12.50,2020-01-01,,,\n");
    let refused = import("savanna", &bad, &[]);
    assert_eq!(refused.code, Some(1));
    for line in [
        "1 new, 1 changed, 0 unchanged offers, 2 refused rows\n",
        "line 4: categories \"Hats\": no item of the shop has the category \"Hats\"; write one of: Accessories, Bags, Boots, Sandals, Shoes",
        "line 5: discount \"12.50\": it has cents; write whole shillings without separators, such as 1250, or percent, such as 10%",
        "line 5: ends \"2020-01-01\": the day is over; write a later one, or remove the row",
    ] {
        assert!(refused.stdout.contains(line), "{line}: {}", refused.stdout);
    }
    assert!(refused.stderr.ends_with("nothing was written; fix the refused rows\n"), "{}", refused.stderr);
    let written = import("savanna", good, &[]);
    assert!(written.code == Some(0) && written.stderr.ends_with("written: 2 offers\n"), "{written:?}");
    let empty = import("savanna", "", &["--replace"]);
    assert!(empty.code == Some(2) && empty.stderr.contains("the list has no offers"), "{empty:?}");
    let one = good.lines().next().unwrap();
    let replaced = import("savanna", one, &["--replace"]);
    assert_eq!(replaced.stdout.trim(), "0 new, 0 changed, 1 removed, 1 unchanged offers, 0 refused rows");
    let other = import("kijani", "KARIBU10,15 % off,15%,2099-12-31,,Bags,\n", &["--dry-run"]);
    assert!(other.stdout.contains("1 new, 0 changed, 0 unchanged offers"), "another shop has none: {other:?}");
    let missing = import("acme", good, &[]);
    assert!(missing.code == Some(2) && missing.stderr.contains("there is no shop acme"), "{missing:?}");
}

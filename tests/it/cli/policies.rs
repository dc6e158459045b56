//! `frontdesk import policies`, run as a program on a real database.

use chrono::Utc;
use frontdesk::domain::TenantId;
use frontdesk::domain::returns::{Policy, Scope};

use super::Run;
use super::orders::Shop;
use crate::support::audit;

const HEADER: &str = "name,scope,category,return_days,refund_days\n";

impl Shop {
    fn policies(&self, content: &str, arguments: &[&str]) -> Run {
        std::fs::write(self.folder.path().join("policies.csv"), content).unwrap();
        self.run(&[&["import", "policies", "--file", "policies.csv"], arguments].concat())
    }

    async fn stored(&self) -> Vec<Policy> {
        let store = crate::store::open(&self.url).await;
        store.tenant(&TenantId::default()).list_policies().await.unwrap()
    }
}

#[tokio::test]
async fn imported_policies_replace_earlier_ones() {
    let shop = Shop::new().await;
    let first = format!("{HEADER}VIP,vip,,120,\nShoes,category,Footwear,60,30\n");
    let dry = shop.policies(&first, &["--dry-run"]);
    assert_eq!((dry.code, dry.stderr.as_str()), (0, "dry run: nothing was written\n"));
    assert_eq!(shop.stored().await, []);
    let written = shop.policies(&first, &[]);
    let lines = "VIP: VIP customers, returns 120 days, refunds REFUND_WINDOW_DAYS\n\
        + Shoes: category Footwear, returns 60 days, refunds 30 days\n";
    assert_eq!((written.code, written.stdout), (0, format!("+ {lines}")));
    assert_eq!(written.stderr, "written: 2 policies\n");

    let second = "name;return_days;scope;note\nShoes;45;general;x\n";
    let written = shop.policies(second, &[]);
    let lines = "~ Shoes: everything, returns 45 days, refunds REFUND_WINDOW_DAYS\n\
        - VIP: VIP customers, returns 120 days, refunds REFUND_WINDOW_DAYS\n";
    assert_eq!((written.code, written.stdout.as_str()), (0, lines));
    assert_eq!(written.stderr, "written: 1 policies\nignored columns: \"note\"\n");
    let general = Policy { name: "Shoes".to_owned(), scope: Scope::General, return_days: 45, refund_days: None };
    assert_eq!(shop.stored().await, [general]);
}

#[tokio::test]
async fn invalid_policy_list_changes_nothing() {
    let shop = Shop::new().await;
    shop.policies(&format!("{HEADER}VIP,vip,,120,\n"), &[]);
    let kept = shop.stored().await;
    let refused = shop.policies(&format!("{HEADER}VIP,vip,,90,\nAll,general,,thirty,\nShoes,category\n"), &[]);
    assert_eq!((refused.code, refused.stderr.as_str()), (1, "nothing was written; fix the refused rows\n"));
    let lines = "~ VIP: VIP customers, returns 90 days, refunds REFUND_WINDOW_DAYS\n\
        line 3: return_days \"thirty\": write a whole number of days, 0 to 3660\n\
        line 4: row \"Shoes\": the row has 2 columns and the header 5;";
    assert!(refused.stdout.starts_with(lines), "{}", refused.stdout);
    for (content, says) in [
        (HEADER.to_owned(), "nothing was written, since the list has no policies"),
        ("name,days\n".to_owned(), "missing: scope, return_days"),
        (String::new(), "the file is empty"),
    ] {
        let failed = shop.policies(&content, &[]);
        assert!(failed.code == 2 && failed.stderr.contains(says), "{}", failed.stderr);
    }
    assert_eq!(shop.stored().await, kept);
}

#[tokio::test]
async fn policy_import_is_in_the_audit_log() {
    let shop = Shop::new().await;
    let store = crate::store::open(&shop.url).await;
    let tenant = TenantId::default();
    let door = store.tenant(&tenant);
    let policy = |days| Policy { name: "All".to_owned(), scope: Scope::General, return_days: days, refund_days: None };
    assert_eq!(door.replace_policies(&[policy(30)], "import", Utc::now()).await.unwrap(), []);
    assert_eq!(door.replace_policies(&[policy(31)], "import", Utc::now()).await.unwrap(), [policy(30)]);
    assert_eq!(door.replace_policies(&[], "import", Utc::now()).await.unwrap(), [policy(31)]);
    let recorded = audit::of_shop(&door).await;
    let told: Vec<_> = recorded.iter().map(|entry| (entry.who.as_str(), entry.what.as_str())).collect();
    assert_eq!(told, [("import", "policies.replaced"); 3]);
    assert_eq!(recorded[1].before, Some(serde_json::json!([policy(30)])));
    assert_eq!(recorded[1].after, Some(serde_json::json!([policy(31)])));
}

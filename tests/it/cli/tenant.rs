//! `frontdesk tenant`, `seed commerce` and `import catalog`.

use super::shop::Shop;
use crate::support::payments::Daraja;

const KEY: [(&str, &str); 1] = [("TENANT_SECRET_KEY", "a-secret-of-the-operator-with-40-letters")];

#[test]
fn tenant_is_added_changed_and_listed() {
    let shop = Shop::new();
    let none = shop.run(&["tenant", "list"], &[]);
    assert!(none.stdout.starts_with("no shops: add one with `frontdesk tenant add`"), "{none:?}");
    let add = ["tenant", "add", "acme", "--name", "Acme Shoes", "--default-language", "sw", "--bot-name", "Zuri"];
    let added = shop.run(&[&add[..], &["--payments-enabled", "mpesa_stk,pesapal"]].concat(), &[]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    for line in ["acme", "name Acme Shoes", "default_language sw", "allowed_languages sw", "credentials -"] {
        assert!(lines(&added.stdout).contains(&line.to_owned()), "{line}: {}", added.stdout);
    }
    let again = shop.run(&add, &[]);
    assert!(again.code == Some(1) && again.stderr.contains("frontdesk tenant set acme"), "{again:?}");
    let set = ["tenant", "set", "acme", "--whatsapp-number", "+254 712 345 678", "--payments-enabled", ""];
    let set = shop
        .run(&[&set[..], &["--allowed-languages", "sw,sheng", "--bot-intro", "Niaje, mimi ni Zuri!"]].concat(), &[]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let listed = lines(&shop.run(&["tenant", "list"], &[]).stdout);
    for line in [
        "bot_name Zuri",
        "bot_intro Niaje, mimi ni Zuri!",
        "allowed_languages sw, sheng",
        "payments_enabled -",
        "whatsapp_number +254712345678",
    ] {
        assert!(listed.contains(&line.to_owned()), "{line}: {listed:?}");
    }
    let other = shop.run(&["tenant", "add", "other", "--name", "Other", "--whatsapp-number", "+254712345678"], &[]);
    assert!(other.stderr.contains("the shop acme has this WhatsApp number"), "{other:?}");
    assert!(!shop.run(&["tenant", "list"], &[]).stdout.contains("Other"));
}

#[test]
fn invalid_tenant_settings_are_refused_with_hint() {
    let shop = Shop::new();
    for (arguments, hint) in [
        (&["set", "acme", "--name", "A"][..], "there is no shop acme"),
        (&["add", "Acme", "--name", "A"], "a-z, 0-9"),
        (&["add", "acme", "--name", ""], "write 1 to 60 characters"),
        (&["add", "acme", "--name", "A", "--max-chattiness-level", "4"], "from 0 (no small talk) to 3"),
        (&["add", "acme", "--name", "A", "--tone-style", "rude"], "friendly_concise, professional, casual"),
        (&["add", "acme", "--name", "A", "--default-language", "fr"], "fr is not a language of"),
        (&["add", "acme", "--name", "A", "--payments-enabled", "cash"], "mpesa_stk, mpesa_c2b, pesapal"),
        (&["add", "acme", "--name", "A", "--whatsapp-number", "0712345678"], "international form"),
        (&["add", "acme", "--name", "A", "--catalog-link-base", "acme.example"], "https://"),
        (&["add", "acme", "--name", "A", "--allowed-languages", "en,x"], "'x': "),
        (&["add", "acme", "--name", "A", "--default-language", "fr"], "--default-language and --allowed-languages"),
        (
            &["add", "acme", "--name", "A", "--whatsapp-persona", "guest"],
            "no persona 'guest': write one of commerce_en",
        ),
        (&["set", "acme", "--whatsapp-persona", "guest"], "no persona 'guest': write one of commerce_en"),
        (&["add", "acme", "--name", "A", "--max-tool-errors", "0"], "1..=10"),
        (&["add", "acme", "--name", "A", "--expected-wait-minutes", "0"], "1..=10080"),
        (&["set", "default", "--name", "A"], "name another one with --tenant"),
        (&["set", "acme", "--credentials", "missing.toml"], "set TENANT_SECRET_KEY"),
    ] {
        let refused = shop.run(&[&["tenant"], arguments].concat(), &[]);
        assert!(refused.code != Some(0) && refused.stderr.contains(hint), "{arguments:?}: {refused:?}");
    }
    assert!(shop.run(&["tenant", "list"], &[]).stdout.starts_with("no shops"));
}

#[test]
fn credentials_are_sealed_and_never_shown() {
    let shop = Shop::new();
    shop.run(&["tenant", "add", "acme", "--name", "Acme"], &[]);
    let set = ["tenant", "set", "acme", "--credentials", "-"];
    let file = "twilio_auth_token = \"a-token-of-twilio\"\ndaraja_passkey = \"a-key-of-daraja\"\n";
    let unset = shop.run_with_input(&set, &[], file);
    assert!(unset.code == Some(1) && unset.stderr.contains("set TENANT_SECRET_KEY"), "{unset:?}");
    for (file, hint) in [
        ("twilio_token = \"a-token-of-twilio\"\n", "with the names twilio_account_sid, twilio_auth_token"),
        ("a-token-of-twilio", "standard input, line 1: write lines such as"),
        ("daraja_passkey = \"a\"\ntwilio_auth_token = a-token-of-twilio\n", "standard input, line 2: "),
    ] {
        let refused = shop.run_with_input(&set, &KEY, file);
        assert!(refused.code == Some(1) && refused.stderr.contains(hint), "{refused:?}");
        assert!(!refused.stderr.contains("a-token-of-twilio"), "{refused:?}");
    }
    let stored = shop.run_with_input(&set, &KEY, file);
    assert!(stored.stdout.contains("twilio_auth_token, daraja_passkey\n"), "{stored:?}");
    let [database, log] =
        ["database/frontdesk.db", "database/frontdesk.db-wal"].map(|name| std::fs::read(shop.path(name)));
    for bytes in [database.expect("the database"), log.unwrap_or_default()] {
        for secret in ["a-token-of-twilio", "a-key-of-daraja"] {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        }
    }
    let other = [("TENANT_SECRET_KEY", "another-secret-of-the-operator-40-letters")];
    let listed = shop.run(&["tenant", "list"], &other).stdout;
    assert!(listed.contains("daraja_passkey (TENANT_SECRET_KEY does not open it)"), "{listed}");
    let examined = shop.run(&["doctor"], &other).stdout;
    assert!(examined.contains("fail  shops: TENANT_SECRET_KEY does not open the credentials of acme:"), "{examined}");
    let examined = shop.run(&["doctor"], &KEY).stdout;
    assert!(examined.contains("ok    shops: on WhatsApp: 1\n"), "{examined}");
    let examined = shop.run(&["doctor"], &[]).stdout;
    assert!(examined.contains("fail  shops: TENANT_SECRET_KEY is not set, but acme have credentials"), "{examined}");
    let missing = shop.run(&["tenant", "set", "acme", "--credentials", "missing.toml"], &KEY);
    assert!(missing.stderr.contains("cannot read missing.toml: there is no such file"), "{missing:?}");
    let removed = shop.run_with_input(&set, &KEY, "daraja_passkey = \"\"\n");
    assert!(removed.stdout.contains("twilio_auth_token\n"), "{removed:?}");
}

#[test]
fn doctor_checks_shops_with_a_whatsapp_number() {
    let shop = Shop::new();
    let number = ["tenant", "add", "acme", "--name", "Acme", "--whatsapp-number", "+254712345678"];
    let template = ["--whatsapp-persona", "commerce_en", "--whatsapp-template", "HXb5b62575e6e4ff6129ad7c8efe1f983e"];
    let added = shop.run(&[&number[..], &template].concat(), &[]).stdout;
    let added = added.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in ["whatsapp_persona commerce_en", "whatsapp_template HXb5b62575e6e4ff6129ad7c8efe1f983e"] {
        assert!(added.contains(line), "{added}");
    }
    let doctor = |url: &str| shop.run(&["doctor"], &[KEY[0], ("PUBLIC_URL", url)]).stdout;
    let https = "https://chat.example";
    assert!(doctor(https).contains("warn  whatsapp: acme cannot send or receive messages: store twilio_account_sid"));
    let file = "twilio_account_sid = \"AC1\"\ntwilio_auth_token = \"a-token-of-twilio\"\n";
    shop.run_with_input(&["tenant", "set", "acme", "--credentials", "-"], &KEY, file);
    for (url, line) in [
        ("", "fail  whatsapp: PUBLIC_URL is not set"),
        ("http://chat.example", "warn  whatsapp: PUBLIC_URL=http://chat.example is not encrypted"),
        (https, "ok    whatsapp: webhook https://chat.example/webhooks/twilio, shops: 1"),
    ] {
        let examined = doctor(url);
        assert!(examined.contains(line), "{examined}");
    }
    std::fs::remove_file(shop.path("prompts/commerce_en.md")).unwrap();
    let examined = doctor(https);
    assert!(
        examined.contains("fail  whatsapp: acme has the persona 'commerce_en', which does not exist"),
        "{examined}"
    );
}

#[test]
fn sandbox_and_real_credentials_exclude_each_other() {
    let shop = Shop::new();
    shop.run(&["tenant", "add", "acme", "--name", "Acme"], &[]);
    let set = ["tenant", "set", "acme", "--credentials", "-"];
    let sandbox = [KEY[0], ("PAYMENTS", "sandbox")];
    let refused = shop.run_with_input(&set, &sandbox, "daraja_shortcode = \"174379\"\n");
    assert!(refused.code == Some(1) && refused.stderr.contains("set PAYMENTS=auto"), "{refused:?}");
    assert!(!shop.run(&["tenant", "list"], &KEY).stdout.contains("daraja_shortcode"));
    for (file, hint) in [
        ("daraja_shortcode = \"ABC\"\n", "daraja_shortcode: write digits only"),
        ("daraja_type = \"shop\"\n", "daraja_type: write paybill or till"),
    ] {
        let refused = shop.run_with_input(&set, &KEY, file);
        assert!(refused.code == Some(1) && refused.stderr.contains(hint), "{refused:?}");
    }
    assert_eq!(shop.run_with_input(&set, &KEY, "daraja_shortcode = \"174379\"\n").code, Some(0));
    let examined = shop.run(&["doctor"], &sandbox).stdout;
    assert!(examined.contains("fail  payments: PAYMENTS=sandbox, but acme have credentials"), "{examined}");
    let served = shop.run(&["serve"], &sandbox);
    assert!(served.code == Some(1) && served.stderr.contains("the shop acme has credentials"), "{served:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_logs_in_at_payment_providers() {
    let daraja = Daraja::open().await;
    let shop = Shop::new();
    shop.run(&["tenant", "add", "acme", "--name", "Acme", "--payments-enabled", "mpesa_stk,pesapal"], &[]);
    let set = ["tenant", "set", "acme", "--credentials", "-"];
    let lines = |credentials: Vec<(&str, String)>| -> String {
        credentials.iter().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect()
    };
    shop.run_with_input(&set, &KEY, &lines(Daraja::credentials("a")));
    let variables = [KEY[0], ("DARAJA_URL", daraja.url())];
    let examined = shop.run(&["doctor"], &variables).stdout;
    for line in [
        "warn  payments: payment providers cannot call back and may refuse requests: set PUBLIC_URL",
        "fail  payments: shop acme: pesapal needs the credentials pesapal_consumer_key and pesapal_consumer_secret\n",
    ] {
        assert!(examined.contains(line), "{examined}");
    }
    shop.run(&["tenant", "set", "acme", "--payments-enabled", "mpesa_stk"], &[]);
    let public = [variables[0], variables[1], ("PUBLIC_URL", "https://mpesa.shop.example")];
    let examined = shop.run(&["doctor"], &public).stdout;
    assert!(examined.contains("fail  payments: Daraja refuses callbacks at https://mpesa.shop.example"), "{examined}");
    assert!(examined.contains("ok    payments: shop acme: its providers accept its credentials"), "{examined}");
    shop.run_with_input(&set, &KEY, "daraja_consumer_secret = \"wrong-one\"\n");
    let examined = shop.run(&["doctor"], &variables).stdout;
    let line = "the request was not sent: no token: daraja does not accept the shop's credentials (400 Bad Request)";
    assert!(examined.contains(line) && !examined.contains("wrong-one"), "{examined}");
}

#[test]
fn catalog_import_is_all_or_nothing() {
    let shop = Shop::new();
    let seeded = shop.run(&["seed", "commerce"], &[]);
    assert_eq!(seeded.code, Some(0), "{seeded:?}");
    assert!(seeded.stdout.starts_with("savanna: Savanna Shoes, 12 items\nkijani: Kijani Outfitters, 12 items\n"));
    let import = |tenant: &str, list: &str, arguments: &[&str]| {
        shop.write("goods.csv", list);
        let command = ["import", "catalog", "--file", "goods.csv", "--tenant", tenant];
        shop.run(&[&command[..], arguments].concat(), &[])
    };
    let header = "item_id,name,category,price,stock,note\n";
    let good = format!("{header}SV-101,Canvas shoes,Shoes,1300,20,x\nSV-200,Rain hat,Hats,700,5,\n");
    let dry = import("savanna", &good, &["--dry-run"]);
    assert_eq!((dry.code, dry.stdout.trim()), (Some(0), "1 new, 1 changed, 0 unchanged items, 0 refused rows"));
    assert_eq!(dry.stderr, "ignored columns: \"note\"\ndry run: nothing was written\n");
    let bad = format!("{good}SV-201,Cap,Hats,700.50,5,\nSV-202,Cap\n");
    let refused = import("savanna", &bad, &[]);
    assert_eq!(refused.code, Some(1));
    let lines: Vec<&str> = refused.stdout.lines().collect();
    assert_eq!(lines[0], "1 new, 1 changed, 0 unchanged items, 2 refused rows");
    assert_eq!(
        lines[1],
        "line 4: price \"700.50\": it has cents; write whole shillings without separators, such as 1250"
    );
    assert!(lines[2].starts_with("line 5: row \"SV-202\": the row has 2 columns"), "{lines:?}");
    assert!(refused.stderr.ends_with("nothing was written; fix the refused rows\n"), "{}", refused.stderr);
    let written = import("savanna", &good, &[]);
    assert!(written.code == Some(0) && written.stderr.ends_with("written: 2 items\n"), "{written:?}");
    let empty = import("savanna", header, &["--replace"]);
    assert!(empty.code == Some(2) && empty.stderr.contains("the list has no items"), "{empty:?}");
    let refused = import("savanna", &bad, &["--replace"]).stdout;
    assert!(refused.starts_with("0 new, 0 changed, 2 unchanged items, 2 refused rows\n"), "{refused}");
    let again = import("savanna", &good, &["--replace"]);
    assert!(again.stderr.ends_with("written: 0 items, removed: 11\n"), "{again:?}");
    assert_eq!(again.stdout.trim(), "0 new, 0 changed, 11 removed, 2 unchanged items, 0 refused rows");
    assert_eq!(
        import("kijani", &good, &["--dry-run"]).stdout.trim(),
        "2 new, 0 changed, 0 unchanged items, 0 refused rows"
    );
    let missing = import("acme", &good, &[]);
    assert!(missing.code == Some(2) && missing.stderr.contains("there is no shop acme"), "{missing:?}");
    let refused = shop.run(&["seed", "commerce"], &[]);
    assert!(refused.code == Some(1) && refused.stderr.contains("the shop savanna has"), "{refused:?}");
}

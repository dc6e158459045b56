//! Shops whose indexes do not all fit in memory answer as if they did.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use frontdesk::config::{Config, Env, ShopConfig};
use frontdesk::domain::{Language, TenantId};
use frontdesk::providers::embedding::{Embedder, OllamaEmbedding};
use frontdesk::retrieval::search::Knowledge;
use frontdesk::retrieval::{Query, SearchRules, open_vectors};
use frontdesk::store::{Store, StoreOptions};

use crate::support::database;

const SHOPS: usize = 8;

fn write(root: &Path, shop: usize, price: &str) {
    let folder = root.join(shop.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    let page = format!("# Delivery\n\nWe bring parcels to every door of the town for {price} shillings.\n");
    std::fs::write(folder.join("delivery.md"), page).unwrap();
}

fn read(shop: &Knowledge) {
    shop.read(&BTreeSet::from([vec![String::new()]]), &SearchRules::from_toml("").unwrap()).unwrap();
}

/// Asks a shop, and returns what the passages say.
async fn ask(shop: &Knowledge) -> String {
    let text = "Do you bring parcels to the door?".to_owned();
    let query = Query { text, language: Language::EN, limit: 4, pages_only: false };
    let found = shop.find(&[String::new()], &query).await.passages;
    found.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn price(price: &str) -> String {
    format!("We bring parcels to every door of the town for {price} shillings.")
}

#[tokio::test]
async fn dropped_index_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let url = database::fresh(root.path()).await;
    // Room for one index: each question to another shop drops the last one's.
    let settings = [("EMBED", "off"), ("INDEXES_MAX_MB", "0"), ("DATABASE_URL", &url)];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::read(Env::of(settings)).unwrap();
    let options = StoreOptions { url, timeout: config.store.timeout, connections: config.store.connections };
    let vectors = open_vectors(&config, &Store::open(&options).await.unwrap()).unwrap();
    let embedder = Embedder::new(Arc::new(OllamaEmbedding::new(&config.embed).unwrap()), config.embed.clone());
    let default = config.shop(&TenantId::default());
    let knowledge = Knowledge::new(config.knowledge, config.search, Arc::new(embedder), vectors);
    let shops: Vec<Knowledge> = (0..SHOPS)
        .map(|shop| {
            write(root.path(), shop, &format!("{shop}00"));
            let (tenant, folder) = (format!("shop-{shop}").parse().unwrap(), Some(root.path().join(shop.to_string())));
            let of_shop = knowledge.of_shop(&ShopConfig { tenant, knowledge: folder, ..default.clone() });
            read(&of_shop);
            of_shop.index_all();
            of_shop
        })
        .collect();
    let folders = [String::new()];
    let kept = shops[0].pages(&folders);
    for _ in 0..2 {
        for (n, shop) in shops.iter().enumerate() {
            assert_eq!(ask(shop).await, price(&format!("{n}00")));
        }
    }
    // A change counts once it is read, whether the shop's index was dropped before or not.
    for changed in [0, SHOPS - 1] {
        write(root.path(), changed, "55");
        assert_eq!(ask(&shops[changed]).await, price(&format!("{changed}00")));
        read(&shops[changed]);
        assert_eq!(ask(&shops[changed]).await, price("55"));
        assert_eq!(ask(&shops[1]).await, price("100"));
    }
    let query = Query { text: "parcels".to_owned(), language: Language::EN, limit: 1, pages_only: false };
    assert_eq!(kept.find_by_words(&query).passages[0].text, price("000"), "pages are those of their moment");
}

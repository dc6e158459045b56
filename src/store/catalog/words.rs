//! The words of a shop's goods. They are kept in memory until the goods change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;
use sea_orm::{ColumnTrait, ConnectionTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::super::entities::{catalog_items, settings};
use super::super::settings::set_for;
use super::super::{Result, TenantStore};
use crate::domain::commerce::catalog::search::with_stems;
use crate::domain::text::words;
use crate::domain::{TenantId, WordSet};

/// The setting that changes with every change of a shop's goods.
const CATALOG_VERSION: &str = "catalog_version";
/// The most bytes of all shops' words.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The words of a shop's goods, folded, as written and without plural endings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogWords {
    pub all: WordSet,
    /// Those of names and categories.
    pub names: WordSet,
    /// Those that name what an item is: the last one of its name, and its category.
    pub kinds: WordSet,
    /// Those of the choices of variants, such as colours and sizes.
    pub choices: WordSet,
}

impl CatalogWords {
    fn bytes(&self) -> usize {
        [&self.all, &self.names, &self.kinds, &self.choices].into_iter().map(WordSet::bytes).sum()
    }
}

/// The words of the shops that were asked for last, each with the version of the goods that have them.
#[derive(Debug)]
pub(in crate::store) struct KnownWords(Mutex<Table>);

#[derive(Debug)]
struct Table {
    shops: LruCache<TenantId, (Option<String>, Arc<CatalogWords>)>,
    bytes: usize,
}

impl Default for KnownWords {
    fn default() -> Self {
        Self(Mutex::new(Table { shops: LruCache::new_unbounded(), bytes: 0 }))
    }
}

impl KnownWords {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, tenant: &TenantId, version: Option<&String>) -> Option<Arc<CatalogWords>> {
        let found = self.with(|table| table.shops.get(tenant).cloned());
        found.filter(|(known, _)| known.as_ref() == version).map(|(_, words)| words)
    }

    /// Keeps a shop's words. Those of shops that were not asked for longest make room.
    fn keep(&self, tenant: &TenantId, version: Option<String>, words: &Arc<CatalogWords>) {
        self.with(|table| {
            table.bytes += words.bytes();
            let earlier = table.shops.insert(tenant.clone(), (version, words.clone()));
            table.bytes -= earlier.map_or(0, |(_, words)| words.bytes());
            while table.bytes > MAX_BYTES
                && let Some((_, (_, oldest))) = table.shops.remove_lru()
            {
                table.bytes -= oldest.bytes();
            }
        });
    }
}

impl TenantStore<'_> {
    /// Returns the words of the shop's goods. The rows are read again only after the goods have changed, also by another server.
    pub async fn catalog_words(&self) -> Result<Arc<CatalogWords>> {
        // Before the rows, so that a change between the two statements is noticed the next time.
        let version = self.catalog_version().await?;
        if let Some(known) = self.store.catalog_words.get(self.tenant, version.as_ref()) {
            return Ok(known);
        }
        let words = Arc::new(self.read_catalog_words().await?);
        self.store.catalog_words.keep(self.tenant, version, &words);
        Ok(words)
    }

    async fn catalog_version(&self) -> Result<Option<String>> {
        let row = self.rows::<settings::Entity>().filter(settings::Column::Name.eq(CATALOG_VERSION));
        Ok(row.one(&self.store.read).await?.map(|row| row.value))
    }

    async fn read_catalog_words(&self) -> Result<CatalogWords> {
        use catalog_items::Column as C;
        let rows = self.rows::<catalog_items::Entity>().select_only();
        let rows = rows.columns([C::Searched, C::Name, C::Category, C::Variants]);
        let rows: Vec<(String, String, String, serde_json::Value)> = rows.into_tuple().all(&self.store.read).await?;
        let (mut all, mut names, mut kinds, mut choices) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (searched, name, category, variants) in rows {
            all.extend(with_stems(&searched));
            names.extend(with_stems(&format!("{name} {category}")));
            let kind = words(&name).pop().unwrap_or_default();
            kinds.extend(with_stems(&format!("{kind} {category}")));
            let variants: BTreeMap<String, Vec<String>> = serde_json::from_value(variants).unwrap_or_default();
            choices.extend(variants.values().flatten().flat_map(|choice| words(choice)));
        }
        let set = WordSet::from_iter::<BTreeSet<String>>;
        Ok(CatalogWords { all: set(all), names: set(names), kinds: set(kinds), choices: set(choices) })
    }
}

/// Notes that the goods of a shop have changed.
pub(super) async fn note_change(connection: &impl ConnectionTrait, tenant: &TenantId) -> Result<()> {
    set_for(connection, tenant, CATALOG_VERSION, &Uuid::now_v7().to_string()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_many_shops_are_bounded() {
        let known = KnownWords::default();
        let all = (0..200_000).map(|number| format!("{number:095}")).collect();
        let words = Arc::new(CatalogWords { all, ..CatalogWords::default() });
        let shop = |number: usize| format!("shop-{number}").parse::<TenantId>().expect("a shop");
        for number in 0..6 {
            known.keep(&shop(number), None, &words);
            assert!(known.get(&shop(number), None).is_some() && known.get(&shop(0), None).is_some());
            known.keep(&shop(number), None, &words);
        }
        let kept: Vec<bool> = (0..6).map(|number| known.get(&shop(number), None).is_some()).collect();
        assert_eq!(kept, [true, false, false, false, true, true], "at most {MAX_BYTES} bytes");
        assert!(known.get(&shop(5), Some(&"other".to_owned())).is_none());
    }
}

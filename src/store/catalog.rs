//! The goods of a shop: search, look-up, and the import of a list.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::Expr;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use serde_json::{Value, json};

use super::audit::record;
use super::entities::{TenantEntity, catalog_items};
use super::transaction::Transaction;
use super::{Result, TenantStore, from_db, to_db, unreadable};
use crate::domain::commerce::catalog::search::{
    CatalogFilters, CatalogMatches, CatalogQuery, Search, SearchWords, search, searched_text,
};
use crate::domain::commerce::{CatalogItem, Currency, ItemId, Money};
use crate::domain::text::fold;
use crate::domain::{AuditEntry, TenantId};

mod words;

pub use words::CatalogWords;
pub(super) use words::KnownWords;

/// Items in one statement. Databases accept at least 32,766 values.
const ITEMS_AT_ONCE: usize = 500;

/// How a list of a shop differs from what the shop has: its goods, its offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListComparison {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Entries that the list lacks, if it is the whole list.
    pub removed: u64,
}

impl ListComparison {
    /// Whether the list changes nothing.
    pub(super) fn is_same(&self) -> bool {
        self.new + self.changed + self.removed == 0
    }

    /// Counts an entry of the list.
    pub(super) fn count<T: PartialEq>(&mut self, existing: Option<&T>, listed: &T) {
        match existing {
            Some(same) if same == listed => self.unchanged += 1,
            Some(_) => self.changed += 1,
            None => self.new += 1,
        }
    }

    /// The changes, for the audit log.
    pub(super) fn counts(&self) -> Value {
        json!({"new": self.new, "changed": self.changed, "removed": self.removed})
    }
}

/// What an import does with the entries that the list lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    Keep,
    Remove,
}

impl TenantStore<'_> {
    /// Returns the goods of this shop that match the query best.
    pub async fn search_catalog(&self, query: &CatalogQuery) -> Result<CatalogMatches> {
        use catalog_items::Column as C;
        // The database leaves out what cannot match; the search itself checks every condition.
        let mut condition = Condition::all();
        for choice in &query.filters.choices {
            condition = condition.add(C::Searched.contains(fold(choice.trim())));
        }
        if let Some(least) = query.filters.least() {
            condition = condition.add(C::Price.gte(least.minor)).add(C::Currency.eq(least.currency.as_str()));
        }
        if let Some(most) = query.filters.most() {
            condition = condition.add(C::Price.lte(most.minor)).add(C::Currency.eq(most.currency.as_str()));
        }
        if query.filters.in_stock {
            condition = condition.add(C::Stock.gt(0));
        }
        let selected = self.rows::<catalog_items::Entity>().filter(condition);
        // Without words, the database checks every condition but these.
        let CatalogFilters { category, attributes, choices, without, .. } = &query.filters;
        let is_checked = category.is_none() && attributes.is_empty() && choices.is_empty() && without.is_empty();
        if query.words.is_empty() && is_checked {
            let total = selected.clone().count(&self.store.read).await?;
            let rows = self.in_search_order(selected).limit(query.limit.get() as u64).all(&self.store.read).await?;
            let found = search(read_items(rows)?, query);
            return Ok(CatalogMatches {
                total_matches_estimate: usize::try_from(total).unwrap_or(usize::MAX),
                ..found
            });
        }
        if query.words.is_empty() {
            return Ok(search(read_items(selected.all(&self.store.read).await?)?, query));
        }
        self.search_words(&selected, query).await
    }

    /// Searches among rows. Those with most of the words are read first: the others seldom match better, and there may be many.
    async fn search_words(
        &self,
        selected: &Select<catalog_items::Entity>,
        query: &CatalogQuery,
    ) -> Result<CatalogMatches> {
        let has = |word| Expr::case(catalog_items::Column::Searched.contains(word), 1).finally(0);
        let words = || query.words.iter().fold(Expr::value(0), |sum, word| sum.add(has(word)));
        let mut search = Search::new(query);
        // An item matches no word that its text lacks.
        let mut most = i32::try_from(query.words.len()).unwrap_or(i32::MAX);
        while most > 0 && !search.is_beyond(from_db(most)) {
            if most > 1 {
                let fewer = selected.clone().filter(words().lte(most)).select_only().expr(words().max());
                let found = fewer.into_tuple::<Option<i32>>().one(&self.store.read).await?;
                most = found.flatten().unwrap_or(0);
            }
            if most > 0 {
                let rows = selected.clone().filter(words().eq(most)).all(&self.store.read).await?;
                read_items(rows)?.into_iter().for_each(|item| search.add(item));
                most -= 1;
            }
        }
        Ok(search.finish())
    }

    /// Sorts items as [`search`] sorts equal matches: those in stock, then by the bytes of the name.
    fn in_search_order(&self, selected: Select<catalog_items::Entity>) -> Select<catalog_items::Entity> {
        let bytes = |column: &str| match self.store.is_sqlite() {
            true => Expr::cust(column.to_owned()),
            false => Expr::cust(format!("{column} COLLATE \"C\"")),
        };
        let sold_out_last = Expr::cust("CASE WHEN stock > 0 THEN 0 ELSE 1 END");
        let sorted = selected.order_by_asc(sold_out_last).order_by_asc(bytes("name"));
        sorted.order_by_asc(bytes("item_id"))
    }

    /// Returns the item of this shop.
    pub async fn find_catalog_item(&self, id: &ItemId) -> Result<Option<CatalogItem>> {
        let row = self.rows::<catalog_items::Entity>().filter(catalog_items::Column::ItemId.eq(id.as_str()));
        row.one(&self.store.read).await?.map(read_item).transpose()
    }

    /// Returns the first goods with all of these words, by name, and how many there are.
    pub async fn list_catalog_items(&self, words: &SearchWords, most: u64) -> Result<(Vec<CatalogItem>, u64)> {
        use catalog_items::Column as C;
        let all = words.iter().fold(Condition::all(), |all, word| all.add(C::Searched.contains(word)));
        let rows = self.rows::<catalog_items::Entity>().filter(all);
        let total = rows.clone().count(&self.store.read).await?;
        let rows = rows.order_by_asc(C::Name).order_by_asc(C::ItemId).limit(most).all(&self.store.read).await?;
        Ok((read_items(rows)?, total))
    }

    /// Returns the first categories of the shop's goods, by name, or all of them.
    pub async fn list_catalog_categories(&self, most: Option<u64>) -> Result<Vec<String>> {
        let column = catalog_items::Column::Category;
        let rows = self.rows::<catalog_items::Entity>().select_only().column(column).distinct();
        Ok(rows.order_by_asc(column).limit(most).into_tuple().all(&self.store.read).await?)
    }

    /// Compares the list with the shop's goods. Writes nothing.
    pub async fn compare_catalog(&self, list: &[CatalogItem], unlisted: Unlisted) -> Result<ListComparison> {
        Ok(self.differences(&self.store.read, list, unlisted).await?.0)
    }

    /// Writes the items that differ, in one transaction, and records who did it. Returns what was written.
    pub async fn import_catalog(
        &self,
        list: &[CatalogItem],
        unlisted: Unlisted,
        who: &str,
        now: DateTime<Utc>,
    ) -> Result<ListComparison> {
        let transaction = self.store.begin_fenced().await?;
        let (comparison, changed, removed) = self.differences(&transaction, list, unlisted).await?;
        if comparison.is_same() {
            return Ok(comparison);
        }
        for part in removed.chunks(ITEMS_AT_ONCE) {
            let ids = part.iter().map(String::as_str);
            self.delete_where::<catalog_items::Entity, _>(&transaction, catalog_items::Column::ItemId, ids).await?;
        }
        write_items(&transaction, self.tenant, &changed).await?;
        let entry = AuditEntry { after: Some(comparison.counts()), ..AuditEntry::system(who, "catalog.imported", now) };
        record(&transaction, self.tenant, &[entry]).await?;
        transaction.commit().await?;
        Ok(comparison)
    }

    /// Returns the counts, the items to write, and the ids of the items to remove.
    async fn differences<'a>(
        &self,
        connection: &impl ConnectionTrait,
        list: &'a [CatalogItem],
        unlisted: Unlisted,
    ) -> Result<(ListComparison, Vec<&'a CatalogItem>, Vec<String>)> {
        let (mut comparison, mut differing) = (ListComparison::default(), Vec::new());
        for part in list.chunks(ITEMS_AT_ONCE) {
            let ids = part.iter().map(|item| item.id.as_str());
            let rows = self.rows::<catalog_items::Entity>().filter(catalog_items::Column::ItemId.is_in(ids));
            let rows = rows.all(connection).await?.into_iter();
            let existing: HashMap<String, CatalogItem> =
                rows.map(|row| Ok((row.item_id.clone(), read_item(row)?))).collect::<Result<_>>()?;
            for item in part {
                let before = existing.get(item.id.as_str());
                comparison.count(before, item);
                if before != Some(item) {
                    differing.push(item);
                }
            }
        }
        let removed = match unlisted {
            Unlisted::Keep => Vec::new(),
            Unlisted::Remove => {
                let listed: BTreeSet<&str> = list.iter().map(|item| item.id.as_str()).collect();
                let mut ids = self.list_item_ids(connection).await?;
                ids.retain(|id| !listed.contains(id.as_str()));
                ids
            }
        };
        comparison.removed = removed.len() as u64;
        Ok((comparison, differing, removed))
    }

    pub(super) async fn list_item_ids(&self, connection: &impl ConnectionTrait) -> Result<Vec<String>> {
        let ids = self.rows::<catalog_items::Entity>().select_only().column(catalog_items::Column::ItemId);
        Ok(ids.into_tuple().all(connection).await?)
    }
}

/// Inserts or replaces items, and notes that the goods have changed.
pub(super) async fn write_items(transaction: &Transaction, tenant: &TenantId, items: &[&CatalogItem]) -> Result<()> {
    for part in items.chunks(ITEMS_AT_ONCE) {
        let rows = part.iter().map(|item| item_row(tenant, item));
        let insert = catalog_items::Entity::insert_many(rows).on_conflict(catalog_items::Entity::replace_existing());
        insert.exec_without_returning(transaction).await?;
    }
    words::note_change(transaction, tenant).await
}

fn item_row(tenant: &TenantId, item: &CatalogItem) -> catalog_items::ActiveModel {
    catalog_items::ActiveModel {
        tenant_id: Set(tenant.to_string()),
        item_id: Set(item.id.to_string()),
        name: Set(item.name.clone()),
        category: Set(item.category.clone()),
        description: Set(item.description.clone()),
        price: Set(item.price.minor),
        currency: Set(item.price.currency.as_str().to_owned()),
        stock: Set(to_db(item.stock)),
        attributes: Set(json!(item.attributes)),
        variants: Set(json!(item.variants)),
        url: Set(item.url.clone()),
        searched: Set(searched_text(item)),
    }
}

fn read_items(rows: Vec<catalog_items::Model>) -> Result<Vec<CatalogItem>> {
    rows.into_iter().map(read_item).collect()
}

pub(super) fn read_item(row: catalog_items::Model) -> Result<CatalogItem> {
    let unreadable = |reason: &str| unreadable("catalog_items", reason);
    let currency = Currency::parse(&row.currency).ok_or_else(|| unreadable("currency"))?;
    Ok(CatalogItem {
        id: row.item_id.parse().map_err(|_| unreadable("item_id"))?,
        name: row.name,
        category: row.category,
        description: row.description,
        price: Money::new(row.price, currency),
        stock: from_db(row.stock),
        attributes: serde_json::from_value(row.attributes).map_err(|_| unreadable("attributes"))?,
        variants: serde_json::from_value(row.variants).map_err(|_| unreadable("variants"))?,
        url: row.url,
    })
}

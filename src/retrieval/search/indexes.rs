//! The indexes of all shops, as many as fit in memory.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use hashlink::LruCache;

use super::view::{LazyView, View};

/// The indexed views that were used last.
pub(super) struct Indexes {
    most_bytes: usize,
    /// Each by its address, with its size in bytes.
    used: Mutex<LruCache<usize, (Weak<LazyView>, usize)>>,
}

impl Indexes {
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, used: Mutex::new(LruCache::new_unbounded()) }
    }

    /// Returns the view, and indexes its documents if they are not indexed. The views that were not used for longest make room.
    pub(super) fn view(&self, lazy: &Arc<LazyView>) -> Arc<View> {
        let view = lazy.index_now();
        self.with(|used| {
            // A weak pointer keeps the address.
            used.insert(Arc::as_ptr(lazy).addr(), (Arc::downgrade(lazy), view.bytes));
            while bytes(used) > self.most_bytes
                && used.len() > 1
                && let Some((_, (oldest, _))) = used.remove_lru()
            {
                oldest.upgrade().inspect(|oldest| oldest.drop_index());
            }
        });
        view
    }

    /// Whether another index, as large as the largest one, would fit.
    pub(super) fn have_room(&self) -> bool {
        let largest = |used: &Used| used.iter().map(|(_, (_, bytes))| *bytes).max().unwrap_or_default();
        self.with(|used| bytes(used) + largest(used) <= self.most_bytes)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Used) -> T) -> T {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, (view, _)| view.strong_count() > 0);
        work(&mut used)
    }
}

type Used = LruCache<usize, (Weak<LazyView>, usize)>;

fn bytes(used: &Used) -> usize {
    used.iter().map(|(_, (_, bytes))| bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::{Chunk, SearchRules, Shelf};

    #[test]
    fn indexes_of_many_shops_are_bounded() {
        let rules = SearchRules::from_toml("").expect("rules");
        let views = [1, 2, 3, 4].map(|town| {
            let chunk =
                Chunk { text: format!("Delivery to town {town}"), path: "bounded.md".to_owned(), ..Chunk::default() };
            LazyView::of(Shelf { chunks: vec![Arc::new(chunk)], ..Shelf::default() }, &rules)
        });
        let indexed = || views.each_ref().map(|view| view.is_indexed());
        let size = Indexes::new(0).view(&views[0]).bytes;
        let indexes = Indexes::new(2 * size);
        let mut views_used = Vec::new();
        for (used, expected) in [
            (0, [true, false, false, false]),
            (1, [true, true, false, false]),
            (0, [true, true, false, false]),
            (2, [true, false, true, false]),
            (3, [false, false, true, true]),
            (1, [false, true, false, true]),
        ] {
            let room = indexes.have_room();
            views_used.push(indexes.view(&views[used]));
            assert_eq!((indexed(), room), (expected, views_used.len() < 3), "{used}");
        }
        let text = |view: &Arc<View>| view.index.chunks()[0].text.clone();
        let texts: Vec<String> = views_used.iter().map(text).collect();
        let expected = [1, 2, 1, 3, 4, 2].map(|town| format!("Delivery to town {town}"));
        assert_eq!(texts, expected, "what is dropped stays whole for who has it");
        indexes.with(|used| assert_eq!(bytes(used), 2 * size));
        let [_, two, ..] = views;
        drop(two);
        assert!(indexes.have_room(), "documents that are gone take no room");
    }
}

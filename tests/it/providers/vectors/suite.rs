//! What must hold of every vector store.

use frontdesk::providers::vector::{Collection, VectorError, VectorIndex};

use super::{ANY, angle, collection, collection_of, conversation, found, ids, label, record, space};

pub async fn run(index: &dyn VectorIndex) {
    index.ping().await.unwrap();
    a_collection_that_is_not_there_is_empty(index).await;
    the_nearest_come_first_and_no_more_than_asked_for(index).await;
    a_record_with_the_same_id_is_replaced_with_its_labels(index).await;
    labels_narrow_and_all_of_them_must_hold(index).await;
    what_is_deleted_is_found_no_more(index).await;
    shops_do_not_see_each_other(index).await;
    another_models_collection_is_refused_with_both_names(index).await;
    whatever_is_repeated_changes_nothing(index).await;
    ids_texts_and_labels_hold_any_letters(index).await;
    what_cannot_be_compared_is_refused(index).await;
    many_records_go_in_and_out(index).await;
}

async fn open(index: &dyn VectorIndex, collection: &Collection) {
    index.open(collection, &space(3)).await.unwrap();
}

async fn a_collection_that_is_not_there_is_empty(index: &dyn VectorIndex) {
    let nowhere = collection();
    assert!(found(index, &nowhere, 5, &ANY).await.is_empty());
    assert!(found(index, &nowhere, 5, &conversation("c")).await.is_empty());
    assert!(ids(index, &nowhere).await.is_empty());
    index.delete(&nowhere, &["a".to_owned()]).await.unwrap();
    index.delete_where(&nowhere, &label("a", "b")).await.unwrap();
    index.drop_collection(&nowhere).await.unwrap();
    assert!(index.upsert(&nowhere, &[record("a", &angle(0.0), &[])]).await.is_err());
    open(index, &nowhere).await;
    assert!(found(index, &nowhere, 5, &ANY).await.is_empty(), "opened, and nothing in it");
    index.drop_collection(&nowhere).await.unwrap();
}

async fn the_nearest_come_first_and_no_more_than_asked_for(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let records = [
        record("far", &angle(180.0), &[]),
        record("near", &angle(10.0), &[]),
        record("middle", &angle(60.0), &[]),
        record("same", &angle(0.0), &[]),
    ];
    index.upsert(&here, &records).await.unwrap();
    let hits = index.query(&here, &space(3), &[2.0, 0.0, 0.0], 24, &ANY).await.unwrap();
    let expected = [("same", 1.0), ("near", 10_f32.to_radians().cos()), ("middle", 0.5), ("far", -1.0)];
    assert_eq!(hits.len(), expected.len());
    for (hit, (id, similarity)) in hits.iter().zip(expected) {
        assert_eq!(hit.id, id);
        assert!((hit.similarity - similarity).abs() < 1e-5, "{hit:?}");
    }
    let apart = hits[1].vector.iter().zip(angle(10.0)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(hits[1].vector.len() == 3 && apart < 1e-6, "{hits:?}");
    assert_eq!(found(index, &here, 2, &ANY).await, ["same", "near"]);
    assert!(found(index, &here, 0, &ANY).await.is_empty());
    index.drop_collection(&here).await.unwrap();
    assert!(found(index, &here, 5, &ANY).await.is_empty());
    assert!(ids(index, &here).await.is_empty());
}

async fn a_record_with_the_same_id_is_replaced_with_its_labels(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let old = record("a", &angle(90.0), &[("kind", "old"), ("page", "1"), ("conversation_id", "c")]);
    index.upsert(&here, &[old, record("b", &angle(20.0), &[])]).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, ["b", "a"]);
    index.upsert(&here, &[record("a", &angle(5.0), &[("kind", "new")])]).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, ["a", "b"]);
    assert_eq!(found(index, &here, 5, &label("kind", "new")).await, ["a"]);
    for gone in [label("kind", "old"), label("page", "1"), conversation("c")] {
        assert!(found(index, &here, 5, &gone).await.is_empty(), "{gone:?}");
    }
    index.upsert(&here, &[record("a", &angle(5.0), &[])]).await.unwrap();
    assert!(found(index, &here, 5, &label("kind", "new")).await.is_empty());
    let twice = [record("c", &angle(1.0), &[("n", "1")]), record("c", &angle(2.0), &[("n", "2")])];
    index.upsert(&here, &twice).await.unwrap();
    assert_eq!(found(index, &here, 5, &label("n", "2")).await, ["c"]);
    index.drop_collection(&here).await.unwrap();
}

async fn labels_narrow_and_all_of_them_must_hold(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let records = [
        record("a", &angle(1.0), &[("folder", "returns"), ("language", "vi"), ("conversation_id", "c1")]),
        record("b", &angle(2.0), &[("folder", "returns"), ("language", "en"), ("conversation_id", "c1")]),
        record("c", &angle(3.0), &[("folder", "telecom"), ("language", "vi"), ("conversation_id", "c2")]),
        record("d", &angle(4.0), &[]),
    ];
    index.upsert(&here, &records).await.unwrap();
    assert_eq!(found(index, &here, 5, &label("folder", "returns")).await, ["a", "b"]);
    let mut both = label("folder", "returns");
    both.extend(label("language", "en"));
    assert_eq!(found(index, &here, 5, &both).await, ["b"]);
    assert_eq!(found(index, &here, 5, &conversation("c1")).await, ["a", "b"]);
    assert_eq!(found(index, &here, 1, &conversation("c1")).await, ["a"]);
    both.extend(conversation("c1"));
    assert_eq!(found(index, &here, 5, &both).await, ["b"]);
    both.extend(conversation("c2"));
    assert!(found(index, &here, 5, &both).await.is_empty());
    assert!(found(index, &here, 5, &label("folder", "nowhere")).await.is_empty());
    index.drop_collection(&here).await.unwrap();
}

async fn what_is_deleted_is_found_no_more(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let records = [
        record("a", &angle(1.0), &[("path", "x.md")]),
        record("b", &angle(2.0), &[("path", "x.md"), ("conversation_id", "c1")]),
        record("c", &angle(3.0), &[("path", "y.md"), ("conversation_id", "c1")]),
        record("d", &angle(4.0), &[("conversation_id", "c2")]),
    ];
    index.upsert(&here, &records).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, ["a", "b", "c", "d"]);
    index.delete(&here, &["a".to_owned(), "nothing".to_owned()]).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, ["b", "c", "d"]);
    let mut both = label("path", "y.md");
    both.extend(conversation("c1"));
    index.delete_where(&here, &both).await.unwrap();
    assert_eq!(ids(index, &here).await, ["b", "d"]);
    index.delete_where(&here, &conversation("c2")).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, ["b"]);
    index.delete_where(&here, &label("path", "x.md")).await.unwrap();
    assert!(found(index, &here, 5, &ANY).await.is_empty());
    let refused = index.delete_where(&here, &ANY).await.unwrap_err();
    assert!(matches!(refused, VectorError::Refused(_)), "{refused:?}");
    index.drop_collection(&here).await.unwrap();
}

async fn shops_do_not_see_each_other(index: &dyn VectorIndex) {
    let ours = collection();
    let theirs = Collection { tenant: "acme-".parse().unwrap(), ..ours.clone() };
    for (collection, id) in [(&ours, "ours"), (&theirs, "theirs")] {
        open(index, collection).await;
        index.upsert(collection, &[record(id, &angle(0.0), &[("conversation_id", "c")])]).await.unwrap();
    }
    assert_eq!(found(index, &ours, 5, &ANY).await, ["ours"]);
    assert_eq!(found(index, &theirs, 5, &ANY).await, ["theirs"]);
    assert_eq!(found(index, &theirs, 5, &conversation("c")).await, ["theirs"]);
    index.delete_where(&ours, &conversation("c")).await.unwrap();
    index.drop_collection(&ours).await.unwrap();
    assert_eq!(ids(index, &theirs).await, ["theirs"]);
    index.drop_collection(&theirs).await.unwrap();
}

async fn another_models_collection_is_refused_with_both_names(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    index.upsert(&here, &[record("a", &angle(0.0), &[])]).await.unwrap();
    let other = frontdesk::providers::vector::Space { model: "multilingual-e5".to_owned(), dimension: 4 };
    let refused = index.open(&here, &other).await.unwrap_err();
    assert!(matches!(refused, VectorError::OtherSpace { .. }), "{refused:?}");
    for word in ["bge-m3 (3 dimensions)", "multilingual-e5 (4 dimensions)", "frontdesk index --rebuild"] {
        assert!(refused.to_string().contains(word), "{refused}");
    }
    assert!(matches!(index.open(&here, &space(4)).await, Err(VectorError::OtherSpace { .. })));
    assert_eq!(ids(index, &here).await, ["a"]);
    let same_dimension = frontdesk::providers::vector::Space { dimension: 3, ..other.clone() };
    let asked = index.query(&here, &same_dimension, &angle(0.0), 5, &ANY).await;
    assert!(matches!(asked, Err(VectorError::OtherSpace { .. })), "{asked:?}");
    // As a rebuild does.
    index.drop_collection(&here).await.unwrap();
    index.open(&here, &other).await.unwrap();
    index.upsert(&here, &[record("b", &[0.0, 0.0, 0.0, 1.0], &[])]).await.unwrap();
    let hits = index.query(&here, &other, &[0.0, 0.0, 0.0, 1.0], 5, &ANY).await.unwrap();
    assert_eq!(super::ids_of(hits), ["b"]);
    index.drop_collection(&here).await.unwrap();
}

async fn whatever_is_repeated_changes_nothing(index: &dyn VectorIndex) {
    let here = collection_of("acme");
    let records = [record("a", &angle(1.0), &[("k", "v")]), record("b", &angle(2.0), &[])];
    for _ in 0..2 {
        open(index, &here).await;
        index.upsert(&here, &records).await.unwrap();
        assert_eq!(found(index, &here, 5, &ANY).await, ["a", "b"]);
    }
    for _ in 0..2 {
        index.delete(&here, &["b".to_owned()]).await.unwrap();
        index.delete_where(&here, &label("k", "nothing")).await.unwrap();
        index.upsert(&here, &[]).await.unwrap();
        index.delete(&here, &[]).await.unwrap();
        assert_eq!(found(index, &here, 5, &ANY).await, ["a"]);
    }
    for _ in 0..2 {
        index.drop_collection(&here).await.unwrap();
    }
}

async fn ids_texts_and_labels_hold_any_letters(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let strange =
        ["Bảo hành 24 tháng — Đổi trả?", "💬🛒 \"quoted\" 'single' \\ /", "{\"a\":[1]}\n\ttwo lines", "%_$and; DROP"];
    let records: Vec<_> = strange
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let mut record = record(text, &angle(number as f32), &[("tiêu đề", text), ("conversation_id", text)]);
            record.text = (*text).to_owned();
            record
        })
        .collect();
    index.upsert(&here, &records).await.unwrap();
    assert_eq!(found(index, &here, 5, &ANY).await, strange);
    for text in strange {
        assert_eq!(found(index, &here, 5, &label("tiêu đề", text)).await, [text]);
        assert_eq!(found(index, &here, 5, &conversation(text)).await, [text]);
        index.delete(&here, &[text.to_owned()]).await.unwrap();
        assert!(!index.ids(&here).await.unwrap().contains(text));
    }
    index.drop_collection(&here).await.unwrap();
}

async fn what_cannot_be_compared_is_refused(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    for bad in [&[1.0, 0.0][..], &[1.0, 0.0, 0.0, 0.0], &[f32::NAN, 0.0, 0.0], &[f32::INFINITY, 0.0, 0.0]] {
        let good = record("good", &angle(0.0), &[]);
        let written = index.upsert(&here, &[good, record("bad", bad, &[])]).await;
        assert!(matches!(written, Err(VectorError::Refused(_))), "{written:?}");
        let asked = index.query(&here, &space(3), bad, 5, &ANY).await;
        assert!(matches!(asked, Err(VectorError::Refused(_))), "{asked:?}");
    }
    assert!(ids(index, &here).await.is_empty());
    index.drop_collection(&here).await.unwrap();
}

async fn many_records_go_in_and_out(index: &dyn VectorIndex) {
    let here = collection();
    open(index, &here).await;
    let name = |number: usize| format!("{number:04}");
    let records: Vec<_> = (0..2300).map(|number| record(&name(number), &angle(number as f32 * 0.05), &[])).collect();
    index.upsert(&here, &records).await.unwrap();
    assert_eq!(ids(index, &here).await.len(), records.len());
    assert_eq!(found(index, &here, 3, &ANY).await, ["0000", "0001", "0002"]);
    let gone: Vec<String> = (0..2200).map(name).collect();
    index.delete(&here, &gone).await.unwrap();
    assert_eq!(ids(index, &here).await, (2200..2300).map(name).collect::<Vec<_>>());
    assert_eq!(found(index, &here, 2, &ANY).await, ["2200", "2201"]);
    index.drop_collection(&here).await.unwrap();
}

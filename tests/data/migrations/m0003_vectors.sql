INSERT INTO vector_collections (tenant_id, name, model, dimension, generation, version, removed_version)
VALUES ('default', 'documents', 'bge-m3', 2, X'01930000000070008000000000000021', 1, 0);
INSERT INTO vectors (tenant_id, collection, id, conversation_id, version, vector, text, metadata)
VALUES ('default', 'documents', 'c-1', NULL, 1, X'0000803F00000000', 'Giao hàng', '{"title": "Giao hàng"}');

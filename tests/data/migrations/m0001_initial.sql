INSERT INTO conversations (id, tenant_id, user_id, persona, preferred_language, language_source, status, created_at, metadata, last_turn, last_event_turn, last_event_n, state)
VALUES (X'01930000000070008000000000000001', 'default', 'Khách-1', 'system_persona_vi', 'vi', 'persona', 'bot', '2026-01-02T03:04:05+00:00', '{"from": "web"}', 1, 1, 2, '{}'),
       (X'01930000000070008000000000000002', 'acme', NULL, 'system_persona_vi', 'en', 'message', 'bot', '2026-01-02T03:04:06+00:00', '{}', 1, 0, 0, 'null');
INSERT INTO messages (id, tenant_id, conversation_id, turn, position, sender, text, created_at, metadata, receipt)
VALUES (X'01930000000070008000000000000011', 'default', X'01930000000070008000000000000001', 1, 0, 'user', 'Bảo hành Đúng hạn?', '2026-01-02T03:04:07+00:00', '{}', NULL),
       (X'01930000000070008000000000000012', 'default', X'01930000000070008000000000000001', 1, 1, 'assistant', 'Dạ còn ạ', '2026-01-02T03:04:08+00:00', '{"type": "warranty"}', '{"intent": "warranty"}'),
       (X'01930000000070008000000000000013', 'acme', X'01930000000070008000000000000002', 1, 0, 'user', 'hello', '2026-01-02T03:04:09+00:00', '{}', NULL);
INSERT INTO turns (conversation_id, turn, tenant_id, message_id, status, accepted_at, started_at, ended_at, timings, events)
VALUES (X'01930000000070008000000000000001', 1, 'default', X'01930000000070008000000000000011', 'completed', '2026-01-02T03:04:07+00:00', '2026-01-02T03:04:07+00:00', '2026-01-02T03:04:08+00:00', '{"total": 12}', 2),
       (X'01930000000070008000000000000002', 1, 'acme', X'01930000000070008000000000000013', 'queued', '2026-01-02T03:04:09+00:00', NULL, NULL, '{}', 0);
INSERT INTO events (conversation_id, turn, n, tenant_id, body, created_at)
VALUES (X'01930000000070008000000000000001', 1, 1, 'default', '{"type":"turn.start"}', '2026-01-02T03:04:07+00:00'),
       (X'01930000000070008000000000000001', 1, 2, 'default', '{"type":"turn.done"}', '2026-01-02T03:04:08+00:00');
INSERT INTO idempotency_keys (tenant_id, scope, key, body_hash, conversation_id, turn, message_id, created_at)
VALUES ('default', 'messages', 'k-1', 'h-1', X'01930000000070008000000000000001', 1, X'01930000000070008000000000000011', '2026-01-02T03:04:07+00:00');
INSERT INTO settings (tenant_id, name, value) VALUES ('default', 'secret', 's-1');
INSERT INTO warranty_records (tenant_id, serial, product_name, warranty_end_date)
VALUES ('default', 'ABC123', 'Tai nghe', '2027-06-30');

INSERT INTO console_audit (id, tenant_id, who, what, client, conversation_id, subject, detail, at)
VALUES (X'01930000000070008000000000000071', 'default', 'Lan', 'signed_in', '192.0.2.1', NULL, NULL, NULL, '2026-01-02T03:04:05+00:00');

INSERT INTO jobs (kind, subject, tenant_id, conversation_id, created_at, run_at)
VALUES ('embed', '01930000-0000-7000-8000-000000000011', 'default', X'01930000000070008000000000000001', '2026-01-02T03:04:07+00:00', '2026-01-02T03:04:07+00:00');

INSERT INTO jobs (kind, subject, tenant_id, conversation_id, created_at, run_at, dead)
VALUES ('embed', '01930000-0000-7000-8000-000000000017', 'default', X'01930000000070008000000000000001', '2026-11-26T03:04:07+00:00', '2026-11-26T03:04:07+00:00', true);

INSERT INTO revoked_sessions (tenant_id, session, expires_at)
VALUES ('default', 'session-1', '2026-01-03T03:04:05+00:00');
UPDATE conversations SET visitor = TRUE;

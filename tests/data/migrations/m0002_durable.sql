INSERT INTO daily_turns (tenant_id, day, turns) VALUES ('default', '2026-01-02', 3);
UPDATE turns SET cancel_requested = TRUE, events_kept = FALSE WHERE status = 'completed';

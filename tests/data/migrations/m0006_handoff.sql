UPDATE conversations SET status = 'taken', agent = 'Lan', waiting_since = NULL WHERE tenant_id = 'default';
UPDATE turns SET intent = 'warranty', first_text_ms = 12 WHERE status = 'completed';

INSERT INTO persona_versions (tenant_id, persona, version, text, saved_at, saved_by)
VALUES ('default', 'system_persona_vi', 1, 'Greeting: Dạ em chào quý khách', '2026-01-02T03:04:05+00:00', 'Lan');
UPDATE messages SET metadata = '{"type": "clarify"}' WHERE sender = 'assistant';

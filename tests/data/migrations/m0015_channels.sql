UPDATE conversations SET channel = 'whatsapp';
INSERT INTO deliveries (message_id, tenant_id, conversation_id, turn, position, purpose, status, part, parts, reference, error, attempted_at, created_at, updated_at)
VALUES (X'01919191919171918191919191919194', 'savanna', X'01919191919171918191919191919195', 1, 1, 'reply', 'delivered', 0, 1, 'SM1', NULL, '2026-11-20T10:00:01+00:00', '2026-11-20T10:00:00+00:00', '2026-11-20T10:00:03+00:00');
INSERT INTO channel_sessions (tenant_id, channel, address, conversation_id, received_at)
VALUES ('savanna', 'whatsapp', '+254712345678', X'01919191919171918191919191919195', '2026-11-20T10:00:00+00:00');

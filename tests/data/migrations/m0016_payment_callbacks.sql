INSERT INTO payment_callbacks (id, tenant_id, purpose, subject, payment_id, sealed, detail, created_at)
VALUES (X'01919191919171918191919191919194', 'savanna', 'payment', '01919191-9191-7191-8191-919191919193', X'01919191919171918191919191919193', X'00AB', '{"receipt":"SBX1"}', '2026-11-20T10:01:00+00:00');

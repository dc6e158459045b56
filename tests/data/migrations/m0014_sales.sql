INSERT INTO shoppers (id, tenant_id, phone_e164, conversation_id, language_preference, marketing_opt_in, notifications, tags, last_seen)
VALUES (X'01919191919171918191919191919191', 'savanna', '+254712345678', NULL, 'sw', FALSE, TRUE, '[]', '2026-11-20T10:00:00+00:00');
INSERT INTO consent_changes (id, tenant_id, shopper_id, who, at, before, after, message_id)
VALUES (X'01919191919171918191919191919192', 'savanna', X'01919191919171918191919191919191', 'customer', '2026-11-20T10:00:00+00:00', '{"marketing":false,"notifications":true,"language":null}', '{"marketing":false,"notifications":true,"language":"sw"}', NULL);
INSERT INTO sales (tenant_id, sale_id, shopper_id, conversation_id, status, lines, totals, coupon, held_until, created_at, updated_at)
VALUES ('savanna', 'K48213', X'01919191919171918191919191919191', NULL, 'paid', '[{"item":"SH-1","quantity":2,"choices":{"size":"40"},"name":"Canvas shoes","price":{"minor":125000,"currency":"KES"}}]', '{"subtotal":{"minor":250000,"currency":"KES"},"discount":{"minor":0,"currency":"KES"},"total":{"minor":250000,"currency":"KES"}}', NULL, '2026-11-20T10:30:00+00:00', '2026-11-20T10:00:00+00:00', '2026-11-20T10:05:00+00:00');
INSERT INTO payment_requests (id, tenant_id, sale_id, conversation_id, method, phone_e164, amount, currency, status, provider, provider_reference, receipts, created_at, updated_at)
VALUES (X'01919191919171918191919191919193', 'savanna', 'K48213', NULL, 'mpesa_stk', '+254712345678', 250000, 'KES', 'paid', 'sandbox', 'ws_1', '["SBX1"]', '2026-11-20T10:01:00+00:00', '2026-11-20T10:05:00+00:00');
INSERT INTO offers (tenant_id, code, offer, ends_at)
VALUES ('savanna', 'KARIBU10', '{"code":"KARIBU10","terms":"10 % off shoes","discount":{"percent":10},"min_total":null,"categories":["Shoes"],"ends_at":"2027-01-01T00:00:00Z"}', '2027-01-01T00:00:00+00:00');
INSERT INTO sandbox_payments (id, tenant_id, state, receipt, asked_at)
VALUES (X'01919191919171918191919191919193', 'savanna', 'paid', 'SBX1', '2026-11-20T10:01:00+00:00');

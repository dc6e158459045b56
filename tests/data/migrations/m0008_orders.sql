INSERT INTO customers (id, tenant_id, name, email, phone, user_id, is_vip, fraud_flag)
VALUES (X'01930000000070008000000000000031', 'default', 'John Doe', 'john.doe@example.com', NULL, 'u-1', TRUE, FALSE);
INSERT INTO orders (tenant_id, number, customer_id, email, phone, status, currency, paid, ordered_at, shipped_at, delivered_at, tracking)
VALUES ('default', '77893', X'01930000000070008000000000000031', 'john.doe@example.com', NULL, 'Return_Initiated', 'USD', 12999, '2026-01-02T03:04:05+00:00', '2026-01-03T03:04:05+00:00', '2026-01-04T03:04:05+00:00', 'T-1');
INSERT INTO order_items (tenant_id, order_number, line, sku, name, category, quantity, unit_price, is_returnable, is_final_sale)
VALUES ('default', '77893', 1, 'B-1', 'Boots', 'shoes', 1, 12999, TRUE, FALSE);
INSERT INTO return_policies (tenant_id, name, scope, category, return_days, refund_days)
VALUES ('default', 'general', 'general', NULL, 30, NULL);
INSERT INTO rmas (id, tenant_id, number, order_number, customer_id, action, status, currency, refund, reason, reason_code, escalated, escalation_reason, escalation_ticket, conversation_id, created_at, updated_at)
VALUES (X'01930000000070008000000000000041', 'default', 'RMA-1701234567-ABCD', '77893', X'01930000000070008000000000000031', 'return', 'Label_Sent', 'USD', 12999, 'too small', 'size', FALSE, NULL, NULL, X'01930000000070008000000000000001', '2026-01-05T03:04:05+00:00', '2026-01-05T03:04:05+00:00');
INSERT INTO rma_items (rma_id, line, tenant_id, amount) VALUES (X'01930000000070008000000000000041', 1, 'default', 12999);
INSERT INTO labels (rma_id, tenant_id, tracking, created_at)
VALUES (X'01930000000070008000000000000041', 'default', 'FD123', '2026-01-05T03:04:05+00:00');
INSERT INTO tickets (tenant_id, id, kind, idempotency_key, request, order_number, rma_number, conversation_id, priority, reason, summary, created_at, resolution, resolved_by, resolved_why, resolved_at)
VALUES ('default', 'T-1', 'return', 'key-1', 'request-1', '77893', 'RMA-1701234567-ABCD', X'01930000000070008000000000000001', NULL, 'too small', 'Boots', '2026-01-05T03:04:05+00:00', NULL, NULL, NULL, NULL);
INSERT INTO mails (id, tenant_id, number, conversation_id, order_number, rma_number, recipient, template, language, context, status, preview, error, created_at, sent_at)
VALUES (X'01930000000070008000000000000051', 'default', 'M-1', X'01930000000070008000000000000001', '77893', 'RMA-1701234567-ABCD', 'john.doe@example.com', 'return_approved', 'en', '{"order": "77893"}', 'sent', NULL, NULL, '2026-01-05T03:04:05+00:00', '2026-01-05T03:04:06+00:00');
INSERT INTO audit (id, tenant_id, kind, who, what, before, after, conversation_id, order_number, rma_number, at)
VALUES (X'01930000000070008000000000000061', 'default', 'automatic', 'desk', 'rma.created', NULL, '{"status": "Label_Sent"}', X'01930000000070008000000000000001', '77893', 'RMA-1701234567-ABCD', '2026-01-05T03:04:05+00:00');
INSERT INTO order_misses (tenant_id, subject, misses, last_at, locked_until)
VALUES ('default', 'order:77893', 2, '2026-01-05T03:04:05+00:00', NULL);

INSERT INTO plans (tenant_id, code, name, price_monthly) VALUES ('default', 'M', 'M 100 GB', 4500);
INSERT INTO subscriptions (tenant_id, user_id, plan_code, status, start_date)
VALUES ('default', 'u123', 'M', 'active', '2025-08-15');
INSERT INTO invoices (tenant_id, number, user_id, amount, issued_on) VALUES ('default', 'INV-12345', 'u123', 14500, '2025-11-01');
INSERT INTO refund_cases (tenant_id, number, user_id, invoice_number, reason, amount, description, status, eta, conversation_id, opened_at, decided_by, decided_why, decided_at)
VALUES ('default', 10001, 'u123', 'INV-12345', 'overcharge', 10000, 'charged twice', 'opened', '2026-01-09', X'01930000000070008000000000000001', '2026-01-02T03:04:05+00:00', NULL, NULL, NULL);
INSERT INTO case_numbers (tenant_id, last) VALUES ('default', 10001);
UPDATE audit SET user_id = 'u123';
UPDATE conversations SET session_id = 'session-1';

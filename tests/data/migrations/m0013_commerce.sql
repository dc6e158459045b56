INSERT INTO tenants (tenant_id, settings, whatsapp_number)
VALUES ('savanna', '{"name":"Savanna Shoes","bot_name":"Zuri","languages":{"default":"en","allowed":["en","sw","sheng"]},"payments_enabled":["mpesa_stk"]}', '+254700000001');
INSERT INTO tenant_credentials (tenant_id, name, sealed) VALUES ('savanna', 'twilio_auth_token', X'0102030405060708090a0b0c0d0e0f1011121314');
INSERT INTO catalog_items (tenant_id, item_id, name, category, description, price, currency, stock, attributes, variants, url, searched)
VALUES ('savanna', 'SH-1', 'Canvas shoes', 'Shoes', '', 125000, 'KES', 12, '{"brand":"Bata"}', '{"size":["40","41"]}', NULL, 'canvas shoes shoes  brand bata size 40 41');

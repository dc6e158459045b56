UPDATE tickets SET claim = '{"lines": [1]}';
UPDATE jobs SET payload = '{"ticket": "T-1"}';

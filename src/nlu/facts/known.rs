//! The values that support a reply.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Amount, Fact, Lexicon, Span, Value, read};

/// From here on, a bare number may be an amount of money: catalogues have prices without a currency.
const LEAST_PRICE: u64 = 1000;
/// So many digits at the end of a code may stand alone: "RTX4060" and "RTX 4060".
const LEAST_DIGITS: usize = 3;

/// How many letters of a name before a number are read.
const NAME_LETTERS: usize = 64;

/// Values of texts, and what follows from them.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Of each of the shop's texts.
    shop: Vec<Arc<Values>>,
    /// Of each of the customer's messages.
    customer: Vec<Arc<Values>>,
}

/// The values of a text.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The shop's currency, by its name in the rules.
    own_currency: String,
    all: HashSet<Value>,
    /// Numbers that stand bare, and amounts of time and of measures as they are written: 24 of "24 tháng".
    numbers: HashSet<Amount>,
    /// What stands bare alone.
    bare: HashSet<Amount>,
    codes: HashSet<String>,
}

impl Known {
    /// Adds the values of one of the shop's own texts: a passage, a tool's result, the persona.
    pub fn add(&mut self, values: Arc<Values>) {
        self.shop.push(values);
    }

    /// Adds what the customer said. It supports serials, order and telephone numbers, quantities, and a budget where the
    /// reply names one; never a price, a discount, a date or a period.
    pub fn add_customer(&mut self, values: Arc<Values>) {
        self.customer.push(values);
    }

    /// Adds the facts of an earlier reply, except those that came from the customer: a budget must not return as a price.
    pub fn add_reply(&mut self, text: &str, facts: &[Fact], lexicon: &Lexicon) {
        let own = facts.iter().filter(|fact| !self.customer_has(&fact.value)).cloned().collect();
        let mut values = Values { own_currency: lexicon.own_currency.clone(), ..Values::default() };
        values.add_facts(own, text);
        self.add(Arc::new(values));
    }

    /// Whether a fact of a reply may stand.
    pub fn supports(&self, fact: &Fact) -> bool {
        if fact.counts || fact.spoken {
            return true;
        }
        let is_in = |text: &Arc<Values>| match &fact.shared {
            // 12 of "12 tháng" is not how many are left.
            None if fact.stock => text.supports_as_count(&fact.value),
            Some(shared) if shared.sure => text.supports(&shared.value),
            Some(shared) => text.supports(&shared.value) || text.supports(&fact.value),
            None => text.supports(&fact.value),
        };
        self.shop.iter().any(is_in) || self.customer_supports(fact)
    }

    /// Whether a value is in what the customer said.
    fn customer_has(&self, value: &Value) -> bool {
        self.customer.iter().any(|said| said.supports(value))
    }

    fn customer_supports(&self, fact: &Fact) -> bool {
        let any = |has: &dyn Fn(&Arc<Values>) -> bool| self.customer.iter().any(has);
        match &fact.value {
            Value::Money(..) => fact.budget && self.customer_has(&fact.value),
            Value::Number(number) => match number.as_whole() {
                Some(whole) if whole < LEAST_PRICE => !fact.priced && any(&|said| said.bare.contains(number)),
                _ if fact.budget => self.customer_has(&fact.value),
                _ => !fact.priced && any(&|said| said.codes.contains(&digits_of(*number))),
            },
            Value::Measure(..) | Value::Phone(_) | Value::Code(_) => self.customer_has(&fact.value),
            Value::Percent(_) | Value::Date { .. } | Value::Time { .. } | Value::Duration(_) | Value::Weekday(_) => {
                false
            }
        }
    }
}

impl Values {
    /// Reads a text.
    pub fn read(text: &str, lexicon: &Lexicon) -> Self {
        let mut values = Self { own_currency: lexicon.own_currency.clone(), ..Self::default() };
        values.add_facts(read(text, lexicon), text);
        values
    }

    fn add_facts(&mut self, facts: Vec<Fact>, text: &str) {
        for fact in facts {
            if matches!(fact.value, Value::Number(_) | Value::Measure(..) | Value::Duration(_)) {
                self.numbers.extend(fact.written);
            }
            if let Value::Number(number) = fact.value {
                self.bare.insert(number);
            }
            let written = text.get(fact.range.clone()).unwrap_or_default();
            self.add_codes(&fact.value, written, &text[..fact.range.start.min(text.len())]);
            self.all.extend(fact.shared.map(|shared| shared.value));
            self.all.insert(fact.value);
        }
    }

    /// The spellings under which a code, or a number after a name, may return: `i5-13420H` as `i5 13420H`, `RTX 4060` as
    /// `RTX4060`.
    fn add_codes(&mut self, value: &Value, written: &str, before: &str) {
        let own = plain(written);
        match value {
            Value::Code(code) => {
                self.codes.insert(code.clone());
                for part in written.split('-').map(plain) {
                    self.add_end_digits(&part);
                    if part.chars().any(|c| c.is_ascii_digit()) && part.chars().any(|c| c.is_ascii_alphabetic()) {
                        self.codes.insert(part);
                    } else if let Some(number) = Amount::parse(&part, "") {
                        self.numbers.insert(number);
                    }
                }
            }
            Value::Number(_) | Value::Phone(_) => drop(self.codes.insert(own.clone())),
            Value::Measure(..) => {}
            _ => return,
        }
        let name: String = before
            .trim_end_matches([' ', '-'])
            .chars()
            .rev()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
            .take(NAME_LETTERS)
            .collect();
        let name: String = name.chars().rev().filter(|c| *c != '-').collect::<String>().to_lowercase();
        if before.ends_with([' ', '-']) && !name.is_empty() {
            self.codes.insert(format!("{name}{own}"));
        }
    }

    fn add_end_digits(&mut self, code: &str) {
        let letters = code.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &code[letters.len()..];
        if digits.len() >= LEAST_DIGITS && !letters.is_empty() {
            self.numbers.extend(Amount::parse(digits, ""));
        }
    }

    fn supports(&self, value: &Value) -> bool {
        if self.all.contains(value) {
            return true;
        }
        match value {
            Value::Money(amount, currency) => {
                *currency == self.own_currency && *amount >= Amount::whole(LEAST_PRICE) && self.bare.contains(amount)
            }
            Value::Date { .. } => self.all.iter().any(|known| is_part_of(value, known)) || self.supports_year(value),
            Value::Time { hour, minute: 0 } => self.all.contains(&hours(*hour)),
            Value::Duration(_) => (0..=24).any(|hour| *value == hours(hour) && self.all.contains(&time(hour))),
            Value::Phone(digits) => self.codes.contains(digits),
            Value::Code(code) => self.codes.contains(code),
            Value::Number(number) => self.supports_number(*number),
            Value::Time { .. } | Value::Percent(_) | Value::Measure(..) | Value::Weekday(_) => false,
        }
    }

    fn supports_as_count(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => self.bare.contains(number),
            _ => self.supports(value),
        }
    }

    fn supports_number(&self, number: Amount) -> bool {
        let is_year = |value: &Value| matches!(value, Value::Date { year: Some(year), .. } if Amount::whole((*year).into()) == number);
        self.bare.contains(&number)
            || self.numbers.contains(&number)
            || number >= Amount::whole(LEAST_PRICE)
                && self.all.contains(&Value::Money(number, self.own_currency.clone()))
            || self.all.contains(&Value::Phone(digits_of(number)))
            || self.all.iter().any(is_year)
    }

    /// "năm 2024" where a text has the bare number.
    fn supports_year(&self, value: &Value) -> bool {
        match value {
            Value::Date { year: Some(year), month: None, day: None } => {
                self.bare.contains(&Amount::whole((*year).into()))
            }
            _ => false,
        }
    }
}

/// Whether every part of a date is in another one.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    let (Value::Date { year, month, day }, Value::Date { year: y, month: m, day: d }) = (part, whole) else {
        return false;
    };
    (year.is_none() || year == y) && (month.is_none() || month == m) && (day.is_none() || day == d)
}

fn hours(hours: u8) -> Value {
    Value::Duration(Span::Seconds(Amount::whole(hours.into()).times(3600)))
}

fn time(hour: u8) -> Value {
    Value::Time { hour: hour % 24, minute: 0 }
}

fn digits_of(number: Amount) -> String {
    number.as_whole().map(|whole| whole.to_string()).unwrap_or_default()
}

/// ASCII letters and digits in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

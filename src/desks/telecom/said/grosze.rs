//! Prices in złoty and grosze: "six fifty", "12 zł 50 gr", "50 groszy".

use super::PLN;
use crate::domain::commerce::{Currency, Money};
use crate::nlu::facts::{Amount, Fact, Lexicon, Value};

/// Joins the numbers of a price: "six fifty" is 6.50, and "12 zł 50 gr" is 12.50 PLN. "50 groszy" is 0.50 PLN.
pub(super) fn with_grosze(facts: Vec<Fact>, text: &str, lexicon: &Lexicon) -> Vec<Fact> {
    let mut joined: Vec<Fact> = Vec::with_capacity(facts.len());
    for mut fact in facts {
        let follows = |before: &&Fact| text[before.range.end..fact.range.start].trim_matches(' ').is_empty();
        let named = named_grosze(&fact, text, lexicon);
        let before = joined.last().filter(follows);
        let spoken = before.and_then(|before| spoken_price(before, &fact, text));
        let written = before.and_then(|before| written_price(before, &fact, named, text));
        let is_joined = spoken.is_some() || written.is_some();
        if is_joined && let Some(before) = joined.pop() {
            fact.range.start = before.range.start;
            // In words and without "grosze", the amount needs the customer's yes.
            fact.spoken |= spoken.is_some();
        }
        if let Some((_, end)) = named {
            fact.range.end = end;
        }
        let lone = named.map(|(grosze, _)| Value::Money(grosze.divided(100), PLN.to_owned()));
        if let Some(value) = spoken.or(written).or(lone) {
            fact.value = value;
        }
        joined.push(fact);
    }
    joined
}

/// Returns two numbers in words as a price: "six fifty" and "six fifty zloty".
fn spoken_price(before: &Fact, fact: &Fact, text: &str) -> Option<Value> {
    let has_digits = text[fact.range.clone()].contains(|c: char| c.is_ascii_digit());
    let Value::Number(whole) = before.value else { return None };
    let whole = whole.as_whole().filter(|_| before.spoken)?;
    let price = |grosze: Amount| {
        let grosze = grosze.as_whole().filter(|grosze| (10..100).contains(grosze))?;
        Some(Amount::whole(whole).plus(Amount::whole(grosze).divided(100)))
    };
    match &fact.value {
        Value::Number(number) if fact.spoken => price(*number).map(Value::Number),
        Value::Money(amount, currency) if currency == PLN && !has_digits => {
            price(*amount).map(|price| Value::Money(price, currency.clone()))
        }
        _ => None,
    }
}

/// Returns złoty with the number after them as a price: "12 zł 50 gr", and "12 zł 50" where a clause ends.
fn written_price(before: &Fact, fact: &Fact, named: Option<(Amount, usize)>, text: &str) -> Option<Value> {
    let Value::Money(whole, currency) = &before.value else { return None };
    whole.as_whole().filter(|_| currency == PLN)?;
    let grosze = match (named, &fact.value) {
        (Some((grosze, _)), _) => grosze.as_whole(),
        (None, Value::Number(number)) if ends_clause(&text[fact.range.end..]) => {
            number.as_whole().filter(|grosze| *grosze >= 10)
        }
        _ => None,
    };
    let grosze = grosze.filter(|grosze| *grosze < 100)?;
    Some(Value::Money(whole.plus(Amount::whole(grosze).divided(100)), currency.clone()))
}

fn ends_clause(rest: &str) -> bool {
    rest.trim_start_matches(' ').chars().next().is_none_or(|c| matches!(c, '.' | ',' | ';' | '!' | '?' | ')' | '\n'))
}

/// Returns the number of a fact that is called grosze, and where its unit ends: "50 groszy", "50gr".
fn named_grosze(fact: &Fact, text: &str, lexicon: &Lexicon) -> Option<(Amount, usize)> {
    let is_grosze = |word: &str| lexicon.is_hundredth_of(PLN, word);
    match &fact.value {
        Value::Number(number) => {
            let rest = &text[fact.range.end..];
            let word = rest.trim_start_matches(' ');
            let length = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
            let end = fact.range.end + (rest.len() - word.len()) + length;
            is_grosze(&word[..length]).then_some((*number, end))
        }
        Value::Code(code) => {
            let unit = code.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = &code[..code.len() - unit.len()];
            is_grosze(unit).then_some((Amount::parse(digits, "")?, fact.range.end))
        }
        _ => None,
    }
}

/// Returns an amount of złoty, or `None` if it has more than two decimals.
pub(super) fn grosze(amount: Amount) -> Option<Money> {
    let minor = amount.times(100).as_whole().and_then(|minor| i64::try_from(minor).ok())?;
    Some(Money::new(minor, Currency::Pln))
}

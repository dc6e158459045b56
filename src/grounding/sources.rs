//! The texts that one reply is checked with.

use super::claims::Facts;
use crate::persona::texts::CommonTexts;

/// The texts that may support one reply.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// The shop's own: passages, tools' results, the persona, instructions.
    pub shop: Vec<&'a str>,
    /// What the customer said: serials, numbers of orders and telephones, quantities, budgets may be repeated.
    pub customer: Vec<&'a str>,
    /// What earlier replies said.
    pub replies: Vec<&'a str>,
    /// The model's instructions. A reply may use their facts and must not quote them.
    pub instructions: Vec<&'a str>,
    /// The claims that are true in this conversation.
    pub claims: Facts,
}

/// The texts that replace removed parts of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholders<'a> {
    /// For a number.
    pub number: &'a str,
    /// For an address.
    pub link: &'a str,
    /// For the rest of a reply that began to read out its instructions.
    pub rest: &'a str,
    /// For the rest of a reply that made a claim which nothing supports.
    pub claim: &'a str,
    /// For the rest of a reply that said to be a person's.
    pub human: &'a str,
}

impl<'a> Placeholders<'a> {
    pub fn of(texts: &'a CommonTexts) -> Self {
        Self {
            number: &texts.guard_replacement,
            link: &texts.guard_link,
            rest: &texts.guard_rest,
            claim: &texts.guard_claim,
            human: texts.guard_human.as_deref().unwrap_or(&texts.guard_claim),
        }
    }
}

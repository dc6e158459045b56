//! What is said of goods: lists, one item, and what is known of it.

use super::{Speaker, TextResult};
use crate::desks::commerce::effect::Known;
use crate::desks::commerce::state::{PriceOrder, Search, Shown, Wanted};
use crate::desks::commerce::texts::Text;
use crate::domain::commerce::Money;
use crate::domain::commerce::sale::Choices;

impl Speaker<'_> {
    /// Returns the item with its price, and with what is chosen of it.
    pub(super) fn item(&self, wanted: &Wanted) -> TextResult {
        if !wanted.choices.is_empty() {
            return self.chosen(Text::ItemChosen, wanted);
        }
        let price = self.money(wanted.item.price);
        let item = self.text(Text::Item, &[("name", &wanted.item.name), ("price", &price)])?;
        match wanted.item.stock {
            0 => Ok(item + &self.plain(Text::SoldOutMark)?),
            _ => Ok(item),
        }
    }

    pub(super) fn chosen(&self, key: Text, wanted: &Wanted) -> TextResult {
        let (choices, price) = (listed(&wanted.choices), self.money(wanted.item.price));
        self.text(key, &[("name", &wanted.item.name), ("choices", &choices), ("price", &price)])
    }

    /// Returns the item with what its row says of it.
    pub(super) fn details(&self, wanted: &Wanted) -> TextResult {
        let attributes = wanted.item.attributes.iter().map(|(name, value)| format!("{name}: {value}"));
        let description = Some(wanted.item.description.trim_end_matches('.').to_owned());
        let details = description.into_iter().filter(|text| !text.is_empty()).chain(attributes);
        let details = details.collect::<Vec<_>>().join("; ");
        match details.is_empty() {
            true => self.item(wanted),
            false => Ok(format!("{} {}", self.item(wanted)?, self.text(Text::Details, &[("details", &details)])?)),
        }
    }

    /// Returns an item of the cart with everything that its row says.
    pub(super) fn about(&self, wanted: &Wanted) -> TextResult {
        let all = Wanted { choices: Choices::new(), ..wanted.clone() };
        Ok(format!("{} {}", self.details(wanted)?, self.choices(&all)?))
    }

    /// Puts before what is known of goods how it answers the question.
    pub(super) fn answering(&self, known: Known, said: String) -> TextResult {
        let answer = match known {
            Known::Plain => return Ok(said),
            Known::Yes => Text::YesDetail,
            Known::No => Text::NoDetail,
            Known::Unknown => Text::UnknownDetail,
        };
        Ok(format!("{} {said}", self.plain(answer)?))
    }

    /// Returns what pieces of an item cost.
    pub(super) fn cart_line(&self, name: &str, choices: &Choices, quantity: u32, price: Money) -> TextResult {
        let name = match choices.is_empty() {
            true => name.to_owned(),
            false => format!("{name} ({})", listed(choices)),
        };
        let price = self.money(price.times(quantity).unwrap_or(price));
        self.text(Text::CartLine, &[("quantity", &quantity.to_string()), ("name", &name), ("price", &price)])
    }

    /// Returns what the wanted pieces cost.
    pub(super) fn sum(&self, wanted: &Wanted) -> TextResult {
        let pieces = wanted.quantity.unwrap_or(1);
        let line = self.cart_line(&wanted.item.name, &wanted.choices, pieces, wanted.item.price)?;
        let sum = format!("{line}. {}", self.ask_choices(wanted)?);
        match pieces > wanted.item.stock {
            true => Ok(format!("{} {sum}", self.left(wanted)?)),
            false => Ok(sum),
        }
    }

    /// Returns how many pieces of the item there are.
    pub(super) fn left(&self, wanted: &Wanted) -> TextResult {
        let (left, price) = (wanted.item.stock.to_string(), self.money(wanted.item.price));
        self.text(Text::Left, &[("name", &wanted.item.name), ("left", &left), ("price", &price)])
    }

    /// Asks for the choices that are missing, or whether to take the item.
    pub(super) fn ask_choices(&self, wanted: &Wanted) -> TextResult {
        match wanted.missing().next() {
            Some(_) => self.text(Text::AskChoices, &[("choices", &self.choices(wanted)?)]),
            None => self.plain(Text::TakeIt),
        }
    }

    pub(super) fn choices(&self, wanted: &Wanted) -> TextResult {
        let mut asked = Vec::new();
        for (variant, choices) in wanted.missing() {
            let choices = choices.join(", ");
            asked.push(self.text(Text::Choice, &[("variant", variant), ("choices", &choices)])?);
        }
        Ok(asked.join(", "))
    }

    pub(super) fn options(&self, items: &[Shown], total: usize, link: Option<&Search>) -> TextResult {
        let count = items.len().to_string();
        let heading = match total > items.len() {
            true => self.text(Text::MoreOptions, &[("count", &count), ("total", &total.to_string())])?,
            false => self.plain(Text::Options)?,
        };
        let said = format!("{heading}\n{}\n{}", self.numbered(items)?, self.plain(Text::PickOne)?);
        self.with_link(said, link)
    }

    pub(super) fn numbered(&self, items: &[Shown]) -> TextResult {
        let mut lines = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let (number, price) = ((at + 1).to_string(), self.money(item.price));
            let mark = if item.is_sold_out { self.plain(Text::SoldOutMark)? } else { String::new() };
            let values = [("number", number.as_str()), ("name", &item.name), ("price", &price)];
            lines.push(self.text(Text::Option, &values)? + &mark);
        }
        Ok(lines.join("\n"))
    }

    /// Returns a list that is sorted by price.
    pub(super) fn ranked(&self, items: &[Shown], order: PriceOrder) -> TextResult {
        let heading = match order {
            PriceOrder::Cheapest => Text::CheapestFirst,
            PriceOrder::Dearest => Text::DearestFirst,
        };
        Ok(format!("{}\n{}\n{}", self.plain(heading)?, self.numbered(items)?, self.plain(Text::PickOne)?))
    }
}

fn listed(choices: &Choices) -> String {
    choices.values().map(String::as_str).collect::<Vec<_>>().join(", ")
}

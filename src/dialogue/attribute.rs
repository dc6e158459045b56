//! What a customer asks of a product, in its row of the catalogue: "is it heavy?", "which storage does it have?".

use crate::nlu::pick::PickRules;

/// A row's text, with what was asked for at its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    pub text: String,
    /// Whether the row says it. `None` if the message asks for nothing that is known by name.
    pub is_said: Option<bool>,
}

/// Returns the parts of a row that answer a message.
pub fn parts_said(rules: &PickRules, asked: &str, row: &str) -> Vec<String> {
    let parts: Vec<String> = row.split("; ").map(str::to_owned).collect();
    let says = rules.answering(asked, &parts).unwrap_or_default();
    parts.into_iter().zip(says).filter(|(_, says)| *says).map(|(part, _)| part).collect()
}

/// Returns whether a row has everything that a message asks for, or `None` if it asks for nothing that is known by name.
pub fn says_all(rules: &PickRules, asked: &str, row: &str) -> Option<bool> {
    let said = rules.said(asked, row);
    (!said.is_empty()).then(|| said.iter().all(|said| *said))
}

/// Moves the parts of a row that answer a message to its beginning.
pub fn answer_first(rules: &PickRules, asked: &str, row: &str) -> Answered {
    let fields: Vec<(Option<&str>, Vec<&str>)> = row
        .split("; ")
        .map(|field| match field.split_once(": ") {
            Some((label, list)) if list.contains(", ") => (Some(label), list.split(", ").collect()),
            _ => (None, vec![field]),
        })
        .collect();
    let parts: Vec<String> = fields.iter().flat_map(|(_, parts)| parts).map(|part| (*part).to_owned()).collect();
    let Some(says) = rules.answering(asked, &parts) else {
        return Answered { text: row.to_owned(), is_said: None };
    };
    let is_said = says.contains(&true);
    if !is_said || says.iter().all(|says| *says) {
        return Answered { text: row.to_owned(), is_said: Some(is_said) };
    }
    let mut written: Vec<String> =
        parts.iter().zip(&says).filter(|(_, says)| **says).map(|(part, _)| part.clone()).collect();
    let mut says = says.into_iter();
    for (label, parts) in fields {
        let rest: Vec<&str> = parts.into_iter().filter(|_| !says.next().unwrap_or_default()).collect();
        if rest.is_empty() {
            continue;
        }
        let rest = rest.join(", ");
        written.push(label.map_or_else(|| rest.clone(), |label| format!("{label}: {rest}")));
    }
    Answered { text: written.join("; "), is_said: Some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Prompts;

    const ROW: &str =
        "Price: 12.000.000 đ; In stock: 3; Specifications: RAM 16 GB, SSD 512 GB, weighs 1.4 kg; Warranty: 24 months";

    #[test]
    fn what_is_asked_comes_first() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        for (asked, first) in [
            ("also is it heavy", "weighs 1.4 kg; Price"),
            ("which storage does it have", "SSD 512 GB; Price"),
            ("is it in stock, and the warranty?", "In stock: 3; Warranty: 24 months; Price"),
            ("how much is it", "Price: 12.000.000 đ; In stock"),
        ] {
            let answered = answer_first(&rules, asked, ROW);
            assert!(answered.text.starts_with(first), "{asked}: {answered:?}");
            assert_eq!(answered.text.matches("GB").count(), 2, "nothing is lost or repeated: {answered:?}");
        }
    }

    #[test]
    fn parts_that_are_asked_for_are_returned() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        let said = |asked: &str| parts_said(&rules, asked, ROW);
        assert_eq!(said("are both in stock"), ["In stock: 3"]);
        assert!(said("is it good for running").is_empty());
        assert_eq!(parts_said(&rules, "is it in stock", "Price: 9 đ; Out of stock"), ["Out of stock"]);
        let all = |asked: &str| says_all(&rules, asked, ROW);
        assert_eq!((all("how long is the warranty of the battery"), all("the warranty?")), (Some(false), Some(true)));
    }

    #[test]
    fn missing_attribute_of_a_row_is_not_said() {
        let rules = PickRules::read(&Prompts::shipped()).expect("the shipped rules");
        assert_eq!(answer_first(&rules, "what colour is it", ROW).is_said, Some(false));
        assert_eq!(answer_first(&rules, "is it good for running", ROW).is_said, None);
    }
}

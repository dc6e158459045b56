//! A shop's list of return policies.

use super::policy::{Policy, Scope};
use crate::domain::list::{BadValue, Column, Reader, Row};
use crate::domain::string_enum::string_enum;
use crate::domain::text::fold;

string_enum! {
    /// A column of the list.
    pub enum PolicyField {
        Name = "name",
        /// `vip`, `category` or `general`.
        Scope = "scope",
        /// The category, if the scope is `category`.
        Category = "category",
        /// The last day of a return, counted from delivery.
        ReturnDays = "return_days",
        /// The last day of a refund. If missing, `REFUND_WINDOW_DAYS` holds.
        RefundDays = "refund_days",
    }
}

impl Column for PolicyField {
    const NEEDED: &'static [Self] = &[Self::Name, Self::Scope, Self::ReturnDays];
}

/// A row of the list.
pub type PolicyRow = Row<PolicyField>;

/// A refused value of a row.
pub type BadPolicy = BadValue<PolicyField>;

/// The longest name of a policy, in characters.
const MAX_NAME_LENGTH: usize = 100;
/// The longest window, in days: ten years.
const MAX_DAYS: u32 = 3660;

/// Returns the policies in the order of the list, and all refused values. Names and scopes are unique: of two policies for
/// the same items one would never hold.
pub fn policies_of(rows: &[PolicyRow]) -> (Vec<Policy>, Vec<BadPolicy>) {
    let (mut policies, mut bad): (Vec<(u64, Policy)>, Vec<BadPolicy>) = (Vec::new(), Vec::new());
    for row in rows {
        match read(row).and_then(|policy| alone(row, policy, &policies)) {
            Ok(policy) => policies.push((row.place, policy)),
            Err(refused) => bad.extend(refused),
        }
    }
    (policies.into_iter().map(|(_, policy)| policy).collect(), bad)
}

fn read(row: &PolicyRow) -> Result<Policy, Vec<BadPolicy>> {
    let mut reader = Reader::new(row);
    let name = reader.needed(PolicyField::Name, |name| match name.chars().count() {
        0..=MAX_NAME_LENGTH => Ok(name.to_owned()),
        _ => Err(format!("it is longer than {MAX_NAME_LENGTH} characters; shorten it")),
    });
    let category = row.fields.get(&PolicyField::Category);
    let scope = reader.needed(PolicyField::Scope, |scope| match fold(scope).as_str() {
        "category" => Ok(Scope::Category(category.cloned().unwrap_or_default())),
        "vip" => Ok(Scope::Vip),
        "general" => Ok(Scope::General),
        _ => Err("write vip, category or general".to_owned()),
    });
    match (&scope, category) {
        (Some(Scope::Category(_)), None) => {
            reader.refuse(PolicyField::Category, "it is empty; name the category of the items");
        }
        (Some(Scope::Vip | Scope::General), Some(_)) => {
            let hint = "only a policy with the scope category has one; leave it empty, or fix the scope";
            reader.refuse(PolicyField::Category, hint);
        }
        _ => {}
    }
    let return_days = reader.needed(PolicyField::ReturnDays, days);
    let refund_days = reader.find(PolicyField::RefundDays, days);
    let policy = || Some(Policy { name: name?, scope: scope?, return_days: return_days?, refund_days });
    reader.finish(policy())
}

/// Returns the policy, unless another one has its name or scope.
fn alone(row: &PolicyRow, policy: Policy, others: &[(u64, Policy)]) -> Result<Policy, Vec<BadPolicy>> {
    for (line, other) in others {
        let same = match (&other.scope, &policy.scope) {
            _ if fold(&other.name) == fold(&policy.name) => PolicyField::Name,
            (Scope::Category(one), Scope::Category(two)) if fold(one) == fold(two) => PolicyField::Category,
            (Scope::Vip, Scope::Vip) | (Scope::General, Scope::General) => PolicyField::Scope,
            _ => continue,
        };
        return Err(vec![row.refuse(same, format!("line {line} says the same; delete one of the two"))]);
    }
    Ok(policy)
}

fn days(text: &str) -> Result<u32, String> {
    let days = text.parse().ok().filter(|days| *days <= MAX_DAYS);
    days.ok_or_else(|| format!("write a whole number of days, 0 to {MAX_DAYS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as `name|scope|category|return_days|refund_days`, on the lines from 2 on.
    fn list(rows: &[&str]) -> (Vec<Policy>, Vec<String>) {
        let fields = [
            PolicyField::Name,
            PolicyField::Scope,
            PolicyField::Category,
            PolicyField::ReturnDays,
            PolicyField::RefundDays,
        ];
        let row = |(place, text): (u64, &&str)| PolicyRow {
            place,
            fields: fields
                .into_iter()
                .zip(text.split('|'))
                .filter(|(_, text)| !text.is_empty())
                .map(|(field, text)| (field, text.to_owned()))
                .collect(),
        };
        let rows: Vec<PolicyRow> = (2..).zip(rows).map(row).collect();
        let (policies, bad) = policies_of(&rows);
        let shown = |bad: BadPolicy| format!("{} {} {:?}: {}", bad.place, bad.field, bad.value, bad.hint);
        (policies, bad.into_iter().map(shown).collect())
    }

    #[test]
    fn a_row_is_a_policy() {
        let (policies, bad) =
            list(&["Khách VIP|VIP||120|", "Shoes|category|Footwear|60|30", "Everything else|general||30|0"]);
        assert_eq!(bad, Vec::<String>::new());
        let policy = |name: &str, scope, return_days, refund_days| Policy {
            name: name.to_owned(),
            scope,
            return_days,
            refund_days,
        };
        let shoes = Scope::Category("Footwear".to_owned());
        assert_eq!(
            policies,
            [
                policy("Khách VIP", Scope::Vip, 120, None),
                policy("Shoes", shoes, 60, Some(30)),
                policy("Everything else", Scope::General, 30, Some(0)),
            ]
        );
    }

    #[test]
    fn invalid_policy_row_explains_the_fix() {
        for (row, says) in [
            ("|vip||120|", "2 name \"\": it is empty"),
            ("a|||120|", "2 scope \"\": it is empty"),
            ("a|all||120|", "2 scope \"all\": write vip, category or general"),
            ("a|category||120|", "2 category \"\": it is empty; name the category"),
            ("a|vip|Shoes|120|", "2 category \"Shoes\": only a policy with the scope category"),
            ("a|vip|||", "2 return_days \"\": it is empty"),
            ("a|vip||-1|", "2 return_days \"-1\": write a whole number of days, 0 to 3660"),
            ("a|vip||30.5|", "2 return_days \"30.5\""),
            ("a|vip||30|3661", "2 refund_days \"3661\""),
        ] {
            let (policies, bad) = list(&[row]);
            assert!(policies.is_empty() && bad.len() == 1 && bad[0].starts_with(says), "{row}: {bad:?}");
        }
        let (_, bad) = list(&["|all||x|"]);
        assert_eq!(bad.len(), 3, "all values of a row are reported: {bad:?}");
        let long = format!("{}|vip||120|", "x".repeat(MAX_NAME_LENGTH + 1));
        assert!(list(&[&long]).1[0].contains("longer than 100 characters"));
    }

    #[test]
    fn second_policy_of_one_scope_is_refused() {
        for (rows, says) in [
            (["a|vip||120|", "b|vip||90|"], "3 scope \"vip\": line 2 says the same"),
            (["a|general||30|", "b|general||31|"], "3 scope \"general\""),
            (["a|category|Giày|30|", "b|category|giay|30|"], "3 category \"giay\""),
            (["Hè|category|Áo|30|", "he|category|Giày|30|"], "3 name \"he\""),
        ] {
            let (policies, bad) = list(&rows);
            assert!(policies.len() == 1 && bad.len() == 1 && bad[0].starts_with(says), "{rows:?}: {bad:?}");
        }
    }
}

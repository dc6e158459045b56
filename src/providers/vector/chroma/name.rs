//! What a collection is called on the server.

use super::super::{Collection, VectorError};
use crate::domain::TenantId;

/// Between a collection's name and its tenant. No name holds it or ends in its letter, so that no two collections of two
/// tenants are ever one on the server.
const SEPARATOR: &str = "--";

/// The configured name for the default tenant, `NAME--TENANT` for others.
///
/// Chroma takes 3 to 512 of `a-z A-Z 0-9 . _ -`, beginning and ending with a letter or a digit. A tenant's name may end in
/// `-` or `_`; then `.0` follows, which stands in no tenant's name.
///
/// # Errors
/// [`VectorError::Refused`]: Chroma does not take the configured name.
pub fn on_server(collection: &Collection) -> Result<String, VectorError> {
    let name = collection.name.as_str();
    let alphanumeric = |end: Option<char>| end.is_some_and(|c| c.is_ascii_alphanumeric());
    let valid = (3..=400).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && alphanumeric(name.chars().next())
        && alphanumeric(name.chars().last())
        && !name.contains(SEPARATOR)
        && !name.contains("..");
    if !valid {
        return Err(VectorError::Refused(format!(
            "a Chroma collection cannot be called '{name}': use 3 to 400 of a-z, A-Z, 0-9, '.', '_' and '-', letters or digits at \
             both ends, without '--' and '..'"
        )));
    }
    let tenant = collection.tenant.as_str();
    if tenant == TenantId::DEFAULT {
        return Ok(name.to_owned());
    }
    let end = if alphanumeric(tenant.chars().last()) { "" } else { ".0" };
    Ok(format!("{name}{SEPARATOR}{tenant}{end}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn named(name: &str, tenant: &str) -> Result<String, VectorError> {
        on_server(&Collection { tenant: tenant.parse().unwrap(), name: name.to_owned() })
    }

    #[test]
    fn the_default_shops_collection_has_the_configured_name() {
        assert_eq!(named("conversations_dev", "default").unwrap(), "conversations_dev");
        assert_eq!(named("conversations_dev", "acme").unwrap(), "conversations_dev--acme");
        assert_eq!(named("conversations_dev", "acme-").unwrap(), "conversations_dev--acme-.0");
    }

    #[test]
    fn no_two_collections_share_a_name() {
        let tenants = ["default", "a", "-a", "--a", "a-", "a--", "a-b", "a--b", "b", "-", "_", "0"];
        let names = ["abc", "abc-a", "abc.0", "abc-a.0", "abc-b"];
        let all: HashSet<String> =
            names.iter().flat_map(|name| tenants.iter().map(|tenant| named(name, tenant).unwrap())).collect();
        assert_eq!(all.len(), tenants.len() * names.len());
    }

    #[test]
    fn a_name_that_chroma_would_not_take_is_refused_with_the_rule() {
        for bad in ["", "ab", "-abc", "abc-", "a--c", "a..c", "tiệm", "a b c", &"a".repeat(401)] {
            assert!(named(bad, "acme").unwrap_err().to_string().contains("3 to 400"), "{bad:?}");
        }
    }
}

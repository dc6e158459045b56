//! Names of collections on a Chroma server.

use super::super::{Collection, VectorError};
use crate::domain::TenantId;

/// Separates a collection's name and its tenant. Names do not contain it or end with `-`, so that names of different tenants never
/// collide.
const SEPARATOR: &str = "--";

/// Returns the configured name for the default tenant, and `NAME--TENANT` for others.
///
/// Chroma allows 3 to 512 of `a-z A-Z 0-9 . _ -`, starting and ending with a letter or digit. After a tenant that ends with `-` or
/// `_`, `.0` is appended, which no tenant's name contains.
///
/// # Errors
/// [`VectorError::Refused`] if the configured name is not valid in Chroma.
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
            "'{name}' is not a valid name of a Chroma collection: use 3 to 400 of a-z, A-Z, 0-9, '.', '_' and '-', with letters or \
            digits at both ends, without '--' and '..'"
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
    fn default_tenant_uses_configured_name() {
        assert_eq!(named("conversations_dev", "default").unwrap(), "conversations_dev");
        assert_eq!(named("conversations_dev", "acme").unwrap(), "conversations_dev--acme");
        assert_eq!(named("conversations_dev", "acme-").unwrap(), "conversations_dev--acme-.0");
    }

    #[test]
    fn collection_names_never_collide() {
        let tenants = ["default", "a", "-a", "--a", "a-", "a--", "a-b", "a--b", "b", "-", "_", "0"];
        let names = ["abc", "abc-a", "abc.0", "abc-a.0", "abc-b"];
        let all: HashSet<String> =
            names.iter().flat_map(|name| tenants.iter().map(|tenant| named(name, tenant).unwrap())).collect();
        assert_eq!(all.len(), tenants.len() * names.len());
    }

    #[test]
    fn invalid_names_are_refused_with_the_rule() {
        for bad in ["", "ab", "-abc", "abc-", "a--c", "a..c", "tiệm", "a b c", &"a".repeat(401)] {
            assert!(named(bad, "acme").unwrap_err().to_string().contains("3 to 400"), "{bad:?}");
        }
    }
}

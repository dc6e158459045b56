//! Enums that are stored and shown by name.

/// Why a text is not the name of a variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write one of {}", .0.join(", "))]
pub struct UnknownName(pub Vec<&'static str>);

/// Declares an enum whose variants have fixed names, with `ALL`, `as_str`, `parse`, `FromStr`, `Display`, `Serialize` and `Deserialize`.
///
/// The name is matched as `tt`, because `utoipa` does not look into a `literal` and would show the Rust name.
macro_rules! string_enum {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:tt,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Returns the variant of that name, ignoring ASCII case.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let known = || vec![$($text,)+];
                Self::parse(text).ok_or_else(|| $crate::domain::UnknownName(known()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use string_enum;

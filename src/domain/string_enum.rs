//! Types that are stored and shown as text: enums by name, and texts that follow rules.

/// Why a text is not the name of a variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write one of {}", .0.join(", "))]
pub struct UnknownName(pub Vec<&'static str>);

/// An enum of [`string_enum!`].
pub trait StringEnum: Copy + Ord + 'static {
    fn as_str(self) -> &'static str;

    /// Returns the variant of that name, ignoring ASCII case.
    fn parse(text: &str) -> Option<Self>;
}

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

        impl $crate::domain::StringEnum for $name {
            fn as_str(self) -> &'static str {
                Self::as_str(self)
            }

            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
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

/// Implements what `#[serde(try_from = "String", into = "String")]` needs for a type with `FromStr` and `Display`.
macro_rules! text_conversions {
    ($name:ty) => {
        impl TryFrom<String> for $name {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
pub(crate) use text_conversions;

/// Implements `as_str`, `TryFrom<String>`, `From` for `String` and, if it is named, `Display` for a `String` that `FromStr` checks.
/// Generic parameters follow the type in brackets.
macro_rules! text_newtype {
    ($name:ty $([$($generics:tt)*])?) => {
        impl $(<$($generics)*>)? $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $(<$($generics)*>)? TryFrom<String> for $name {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl $(<$($generics)*>)? From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
    ($name:ty $([$($generics:tt)*])?, Display) => {
        $crate::domain::string_enum::text_newtype!($name $([$($generics)*])?);

        impl $(<$($generics)*>)? std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use text_newtype;

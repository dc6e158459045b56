//! Changes of state: a [`Step`] exists only where the change is allowed, and the store writes nothing but steps.

use std::fmt::Display;

/// States that follow one another.
pub trait Status: Copy + Eq + Display + 'static {
    /// What it is the state of, for errors.
    const WHAT: &'static str;

    /// The states that may come next.
    fn next(self) -> &'static [Self];
}

/// One allowed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<S> {
    from: S,
    to: S,
}

/// A change that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot go from {from} to {to}; {}", allowed(.next))]
pub struct IllegalStep {
    pub what: &'static str,
    pub from: String,
    pub to: String,
    /// The states that it may go to.
    pub next: Vec<String>,
}

fn allowed(next: &[String]) -> String {
    match next {
        [] => "nothing comes after that".to_owned(),
        next => format!("it may go to {}", next.join(" or ")),
    }
}

impl<S: Status> Step<S> {
    pub fn new(from: S, to: S) -> Result<Self, IllegalStep> {
        if from.next().contains(&to) { Ok(Self { from, to }) } else { Err(IllegalStep::new(from, to)) }
    }

    /// A change beside the usual ones, which the module of those states allows.
    pub(in crate::domain) fn beside(from: S, to: S) -> Self {
        Self { from, to }
    }

    pub fn from(&self) -> S {
        self.from
    }

    pub fn to(&self) -> S {
        self.to
    }
}

impl IllegalStep {
    pub(in crate::domain) fn new<S: Status>(from: S, to: S) -> Self {
        let next = from.next().iter().map(ToString::to_string).collect();
        Self { what: S::WHAT, from: from.to_string(), to: to.to_string(), next }
    }
}

/// A state, or another fixed word, that is stored and shown by its name: `as_str`, `parse`, `Display`, `Serialize`. The name is
/// a `tt`, since `utoipa` does not see through a `literal`, and would tell the variant's own name.
macro_rules! named {
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

            /// Upper and lower case do not count.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(in crate::domain) use named;

//! Plain types and pure decisions, without I/O. Every other module uses them.
//!
//! No function here reads a clock, a file or a socket: time and ids are arguments.

pub mod audit;
pub mod calendar;
pub mod channel;
pub mod check;
pub mod commerce;
pub mod conversation;
pub mod event;
pub mod figures;
pub mod id;
pub mod identity;
pub mod language;
pub mod link_host;
pub mod list;
pub mod memo;
pub mod message;
pub mod network;
pub mod per_shop;
pub mod returns;
pub mod sealed;
pub mod status;
mod string_enum;
pub mod telecom;
pub mod vocabulary;
pub mod warranty;
pub mod word_set;

pub use audit::{ActorKind, AuditEntry, AuditKind, ConsoleAct, ConsoleDeed};
pub use channel::{Channel, Delivery, DeliveryStatus, Notice};
pub use conversation::{Conversation, ConversationStatus, Handoff, LanguageSource};
pub use event::{ErrorCode, Event, GuardReason, IntentSource, SourceItem, Timings, TurnStatus};
pub use figures::TurnFigures;
pub use frontdesk_text as text;
pub use frontdesk_text::serial::{self, Serial};
pub use id::{ConversationId, EventId, MessageId, PaymentId, ShopperId, TenantId};
pub use language::Language;
pub use link_host::{InvalidLinkHost, LinkHost};
pub use message::{Author, Kind, Message, Metadata, Sender};
pub use per_shop::PerShop;
pub use status::{IllegalChange, StatusChange};
pub(crate) use string_enum::string_enum;
pub use string_enum::{StringEnum, UnknownName};
pub use vocabulary::Vocabulary;
pub use warranty::WarrantyRecord;
pub use word_set::WordSet;

//! frontdesk: a customer-service chat server that a shop runs itself.
//!
//! Facts and decisions come from the shop's database, documents and rules. A language model helps to understand messages and
//! words replies. With the model down, whatever does not need it keeps working.
//!
//! # A tour, top down
//!
//! Data flows one way, and a lower module never names a higher one:
//!
//! - [`cli`]: the commands, such as serve, chat, doctor and import
//! - [`http`]: the wire contract: routes, errors, server-sent events in one file
//! - [`app`]: the wired parts of a running server
//! - [`turn`]: from a message to its turn's events: acceptance, a lane for each conversation, one journal for all, live
//!   feeds and replay, recovery
//! - [`desks`]: what a conversation is for; a desk plays one turn at a time. [`desks::retail`] is shopping and warranty
//! - [`dialogue`]: what every desk needs to follow a customer: the turn, the parsed message, answers from documents
//! - [`agent`]: a language model that calls tools
//! - [`replies`]: what a desk says, by key, with variants and placeholders
//! - [`grounding`]: checks what a model says against its sources
//! - [`tools`]: what desks share besides text: return labels, signed links
//! - [`jobs`]: background jobs and the runner that retries them
//! - [`retrieval`]: finding the passages of the shop's documents that answer a question
//! - [`channels`]: how messages that the shop starts reach a conversation; [`notify`]: e-mails from templates
//! - [`providers`]: external services: language model, embedding model, vector server, e-mail, payments, messages to phones
//! - [`store`]: SQLite or PostgreSQL; the only module that knows the database, with one door to a shop's rows
//! - [`nlu`]: text into meaning: languages, numbers, order numbers, likeness to examples
//! - [`persona`]: the files under `prompts/`: who speaks, and every word that customers see
//! - [`domain`]: plain types and pure decisions
//! - [`config`]: what the shop can set
//!
//! Start reading at [`desks::retail`]'s `play` for what a turn does, at [`turn::engine`] for how it is run, and at
//! [`turn::journal`] for why a client never sees what a crash could lose.
pub mod agent;
pub mod app;
pub mod channels;
pub mod cli;
pub mod config;
pub mod desks;
pub mod dialogue;
pub mod domain;
pub mod grounding;
pub mod http;
pub mod jobs;
pub mod nlu;
pub mod notify;
pub mod persona;
pub mod providers;
pub mod replies;
pub mod retrieval;
pub mod store;
pub mod tools;
pub mod turn;

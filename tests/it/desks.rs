pub mod commerce;
mod echo;
mod events;
mod languages;
mod machine;
mod promises;
pub mod retail;
pub mod returns;
mod telecom;

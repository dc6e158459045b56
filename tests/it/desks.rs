mod echo;
mod events;
mod machine;
pub mod retail;
pub mod returns;

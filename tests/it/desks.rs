mod echo;
mod machine;
mod retail;
pub mod returns;

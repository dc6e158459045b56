mod machine;
mod retail;
pub mod returns;

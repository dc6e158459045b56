mod retail;
pub mod returns;

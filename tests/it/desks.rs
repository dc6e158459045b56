mod machine;
mod retail;
mod returns;

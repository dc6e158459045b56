mod retail;
mod returns;

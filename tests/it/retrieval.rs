mod indexes;
mod stores;
mod sync;

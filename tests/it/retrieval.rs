mod stores;
mod sync;

mod sync;

mod retail;

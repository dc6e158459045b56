mod email;
mod gateway;
mod ollama;
mod vectors;

mod gateway;
mod ollama;
mod vectors;

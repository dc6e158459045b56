mod gateway;
mod ollama;

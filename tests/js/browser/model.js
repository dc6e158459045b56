// A language model with replies that a test scripts, speaking Ollama's protocol.
import { createServer } from "node:http";

const PATIENCE_MS = 300_000;

export class Model {
  #scripted = [];
  #server;

  static async start() {
    const model = new Model();
    model.#server = createServer((request, response) => model.#answer(request, response));
    await new Promise((done) => model.#server.listen(0, "127.0.0.1", done));
    model.url = `http://127.0.0.1:${model.#server.address().port}`;
    return model;
  }

  /** Returns the next reply, whose text the test sends. */
  next() {
    const reply = new Reply();
    this.#scripted.push(reply);
    return reply;
  }

  /** Scripts the next reply, complete at once. */
  nextSays(text) {
    const reply = this.next();
    reply.say(text);
    reply.end();
    return reply;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    if (request.url === "/api/tags") {
      const model = { name: "gpt-oss:latest", modified_at: "2025-01-01T00:00:00Z", size: 1 };
      return response.end(JSON.stringify({ models: [model] }));
    }
    let body = "";
    for await (const piece of request) body += piece;
    // A request for an intent: leave it to the rules.
    if (JSON.parse(body || "{}").stream === false) return response.end(line("{}", true));
    const reply = this.#scripted.shift() ?? whole("Dạ vâng ạ.");
    reply.attach(response);
  }
}

class Reply {
  #unsaid = [];
  #response;
  #asked;

  constructor() {
    /** Resolves when the server has asked for the reply. */
    this.asked = new Promise((asked, never) => {
      const timer = setTimeout(() => never(new Error("the model was not asked")), PATIENCE_MS);
      timer.unref();
      this.#asked = () => (clearTimeout(timer), asked());
    });
    this.asked.catch(() => {});
  }

  say(text) {
    this.#write((response) => response.write(line(text, false)));
  }

  end() {
    this.#write((response) => response.end(line("", true)));
  }

  /** Breaks the connection, as if the model had died. */
  breakOff() {
    this.#write((response) => response.destroy());
  }

  attach(response) {
    this.#response = response;
    for (const write of this.#unsaid) write(response);
    this.#asked();
  }

  #write(write) {
    if (this.#response) write(this.#response);
    else this.#unsaid.push(write);
  }
}

function whole(text) {
  const reply = new Reply();
  reply.say(text);
  reply.end();
  return reply;
}

const line = (content, done) => JSON.stringify({ message: { role: "assistant", content }, done }) + "\n";

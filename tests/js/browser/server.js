// A real server with a folder and a port that survive its restart.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const ROOT = resolve(import.meta.dirname, "../../..");
// Without the settings of the developer's environment.
const known = [...readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^#([A-Z_]+)=/gm)].map((match) => match[1]);
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !known.includes(name)));

export class Server {
  #process;

  /** Starts a server that answers with `model`. `settings` are environment variables. */
  static async start(model, settings = {}) {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), "browser-test-"));
    for (const part of ["prompts", "knowledge"]) cpSync(join(ROOT, part), join(server.folder, part), { recursive: true });
    mkdirSync(join(server.folder, "database"));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}`;
    server.settings = {
      BIND_ADDR: `127.0.0.1:${server.port}`,
      DATABASE_URL: "sqlite://database/frontdesk.db",
      // As in production, where our pages send no key.
      X_API_KEYS: "browser-test-key",
      WEB_CHAT: "on",
      LLM: "ollama",
      // The scripted model has no embeddings.
      EMBED: "off",
      LINK_HOSTS: "127.0.0.1",
      OLLAMA_HOST: model.url,
      RATE_LIMIT_PER_SECOND: "0",
      TURNS_PER_MINUTE: "0",
      LOG: "warn",
      SSE_RETRY_MS: "200",
      // A busy machine is no outage.
      LLM_FIRST_TOKEN_SECONDS: "600",
      LLM_BETWEEN_TOKENS_SECONDS: "600",
      SOCIAL_TIMEOUT_MS: "600000",
      REQUEST_STORE_TIMEOUT_SECONDS: "120",
      ...settings,
    };
    await server.start();
    return server;
  }

  async start() {
    const binary = process.env.FRONTDESK;
    if (!binary) throw new Error("set FRONTDESK to the path of the server's program");
    this.#process = spawn(resolve(binary), ["serve"], {
      cwd: this.folder,
      env: { ...environment, ...this.settings },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((ready, fail) => {
      this.#process.once("error", fail);
      this.#process.once("exit", (code) => fail(new Error(`the server ended by itself with ${code}`)));
      createInterface(this.#process.stdout).on("line", (line) => line.startsWith("listening on ") && ready());
    });
  }

  kill() {
    return this.#end("SIGKILL");
  }

  /** Drains and stops the server. */
  stop() {
    return this.#end("SIGTERM");
  }

  async #end(signal) {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = new Promise((done) => this.#process.once("exit", done));
    this.#process.kill(signal);
    await gone;
  }

  /** Sends a request as the shop. */
  async api(method, path, body) {
    const headers = { "x-api-key": "browser-test-key", "content-type": "application/json" };
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    return text ? JSON.parse(text) : undefined;
  }

  /** Opens a conversation as the shop, with these messages, each answered completely. */
  async conversation(wish, ...texts) {
    const { id } = await this.api("POST", "/conversations", wish);
    for (const text of texts) await this.say(id, text);
    return id;
  }

  /** Sends a message as the customer and waits for the end of the turn. */
  async say(id, text) {
    const headers = { "x-api-key": "browser-test-key", "content-type": "application/json" };
    const response = await fetch(`${this.url}/conversations/${id}/stream`, { method: "POST", headers, body: JSON.stringify({ text }) });
    await response.text();
  }

  /** Runs one of the program's commands on the server's folder. */
  async run(...args) {
    const command = spawn(resolve(process.env.FRONTDESK), args, { cwd: this.folder, env: { ...environment, ...this.settings }, stdio: "ignore" });
    const code = await new Promise((done) => command.once("exit", done));
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  }

  async close() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => probe.once("listening", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

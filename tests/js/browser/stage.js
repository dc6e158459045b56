// The setup of a test: a model, a server, a browser, and pages that record every problem.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach } from "node:test";

import { Model } from "./model.js";
import { Server } from "./server.js";

// The npm packages may be installed elsewhere.
const require = createRequire(process.env.BROWSER_PACKAGES ? join(process.env.BROWSER_PACKAGES, "/") : import.meta.url);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const PHONE = { width: 360, height: 740 };
export const DESK = { width: 1280, height: 800 };
/**
 * The languages and colour schemes in which every state is checked. Labels depend on the language and contrast on the scheme,
 * so two pairs cover both. SCREENSHOTS takes pictures of all four.
 */
export const VARIANTS = process.env.SCREENSHOTS
  ? [["vi", "light"], ["en", "light"], ["vi", "dark"], ["en", "dark"]]
  : [["vi", "light"], ["en", "dark"]];
export const QUESTION = "tư vấn mua laptop cho sinh viên";

const stages = new Set();
// A page that stays open follows every later conversation, which takes more time than the tests themselves.
afterEach(() => Promise.all([...stages].map((stage) => stage.closePages())));

export class Stage {
  #contexts = [];

  static async open(settings) {
    const stage = new Stage();
    stages.add(stage);
    stage.model = await Model.start();
    stage.server = await Server.start(stage.model, settings);
    stage.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Chromium's sandbox does not work as root, the user of a container.
      chromiumSandbox: process.getuid() !== 0,
      // Isolates sites also in the headless shell. The list replaces Playwright's, which would change the storage of frames.
      args: ["--site-per-process", "--disable-features=Translate,OptimizationHints,MediaRouter,HttpsUpgrades"],
    });
    return stage;
  }

  /** Opens a browser context without stored data. */
  async context(options = {}) {
    const { scheme = "light", size = DESK, ...more } = options;
    const context = await this.browser.newContext({ viewport: size, colorScheme: scheme, reducedMotion: "reduce", locale: "vi-VN", ...more });
    context.setDefaultTimeout(300_000);
    this.#contexts.push(context);
    return context;
  }

  /** Opens the chat page in `context`. `expected`: allowed console messages. `hosts`: other hosts that it may call. */
  async page({ context, path = "/", url = this.server.url + path, expected = [], hosts = [], ...options } = {}) {
    const own = context ?? (await this.context(options));
    const page = await own.newPage();
    page.wrong = [];
    page.foreign = [];
    page.expected = expected;
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) page.wrong.push(message.text());
    });
    page.on("pageerror", (error) => page.wrong.push(String(error)));
    page.on("request", (request) => {
      const known = [this.server.url, "data:", ...hosts].some((start) => request.url().startsWith(start));
      if (!known) page.foreign.push(request.url());
    });
    await page.goto(url);
    return page;
  }

  /** Asks a question on `page`, starts the model's reply with these words and returns the running reply. */
  async speaking(page, words) {
    const reply = this.model.next();
    await say(page, QUESTION);
    await reply.asked;
    // A word is shown when the next character arrives.
    reply.say(`${words} `);
    await message(page, words);
    return reply;
  }

  /** Asks a question on `page` and waits until this reply is complete. */
  async answered(page, words) {
    this.model.nextSays(words);
    await say(page, QUESTION);
    await message(page, words);
    await quiet(page);
  }

  async closePages() {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  async close() {
    stages.delete(this);
    await this.browser?.close();
    await this.server?.close();
    this.model?.close();
  }
}

/** Sends a message as the customer. */
export async function say(page, text) {
  await page.locator("#text").fill(text);
  await page.locator("#text").press("Enter");
}

/** Waits until a message with this text is shown and returns it. */
export async function message(page, text) {
  const found = page.locator(".message", { hasText: text }).last();
  await found.waitFor();
  return found;
}

/** Waits until no turn runs and every message is sent. */
export async function quiet(page) {
  await page.locator("#running").waitFor({ state: "hidden" });
  await page.waitForFunction(() => !document.querySelector(".user .note, .typing"));
}

/** Exposes the event stream of every page of `context`, for `play`. */
export async function tapped(context) {
  await context.addInitScript(() => {
    window.EventSource = class extends EventSource {
      constructor(...address) {
        super(...address);
        window.stream = this;
      }
    };
  });
  return context;
}

/** Plays events of a turn into a tapped page, as if the server had sent them. */
export const play = (page, turn, events) =>
  page.evaluate(
    ([turn, events]) => events.forEach((event, at) => stream.onmessage({ data: JSON.stringify(event), lastEventId: `${turn}.${at + 1}` })),
    [turn, events],
  );

/** The events of a person's message. */
export const written = (turn, id, text, name) => [
  { type: "turn.start", turn, message_id: id, sender: "agent", text },
  { type: "message.start", message_id: id, kind: "agent" },
  { type: "delta", message_id: id, text },
  { type: "message.end", message_id: id, kind: "agent", metadata: { type: "agent", ...(name && { name }) } },
  { type: "turn.done", turn, status: "completed", timings_ms: {} },
];

/** Returns the text of every message on the page, in order. */
export const texts = (page) => page.locator(".message .bubble").allInnerTexts();

/** Asserts that the page logged no problem and called only our server. */
export function assertClean(page) {
  const wrong = page.wrong.filter((text) => !page.expected.some((pattern) => pattern.test(text)));
  assert.deepEqual(wrong, [], "the browser's console");
  assert.deepEqual(page.foreign, [], "requests to other hosts");
}

/** Asserts that axe finds no violation on the page (or frame). */
export async function assertAccessible(page, what) {
  // Evaluated by the debugger, to which the page's policy does not apply.
  if (!(await page.evaluate("typeof axe !== 'undefined'"))) await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`);
  assert.deepEqual(found, [], `axe on ${what}`);
}

/** Asserts that a first visit of `path` loads at most `most` bytes, all of them ours, and a second one far fewer. `shown` waits for the page. */
export async function assertSmall(stage, path, most, shown) {
  const context = await stage.context();
  const visit = async () => {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    const seen = { bytes: 0, requests: [], wrong: [] };
    devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (seen.bytes += encodedDataLength));
    page.on("request", (request) => seen.requests.push(request.url()));
    page.on("console", (line) => seen.wrong.push(line.text()));
    await page.goto(stage.server.url + path, { waitUntil: "networkidle" });
    await shown(page);
    return { ...seen };
  };
  const first = await visit();
  const again = await visit();
  console.log(`first visit: ${first.bytes} bytes in ${first.requests.length} requests; again: ${again.bytes} bytes`);
  assert.ok(first.bytes > 5000 && first.bytes <= most, `${first.bytes} bytes`);
  assert.deepEqual(first.requests.filter((url) => !url.startsWith(stage.server.url)), []);
  assert.ok(again.bytes < first.bytes / 2, "what does not change is kept");
  assert.deepEqual(first.wrong, []);
}

/** Saves a screenshot in the folder SCREENSHOTS, if set. */
export async function picture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

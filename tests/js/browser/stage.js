// What a test stands on: a model, a server, a browser; and pages that tell of everything that went wrong in them.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { Model } from "./model.js";
import { Server } from "./server.js";

// npm's packages may be installed elsewhere.
const require = createRequire(process.env.BROWSER_PACKAGES ? join(process.env.BROWSER_PACKAGES, "/") : import.meta.url);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const PHONE = { width: 360, height: 740 };
export const DESK = { width: 1280, height: 800 };
export const QUESTION = "tư vấn mua laptop cho sinh viên";

export class Stage {
  #pages = [];

  static async open(settings) {
    const stage = new Stage();
    stage.model = await Model.start();
    stage.server = await Server.start(stage.model, settings);
    stage.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Chromium's sandbox cannot be set up by root, which is what a container runs as.
      chromiumSandbox: process.getuid() !== 0,
      // Instead of Playwright's own list, which takes away what browsers give to a frame: storage of its own.
      args: ["--disable-features=Translate,OptimizationHints,MediaRouter,HttpsUpgrades"],
    });
    return stage;
  }

  /** A browser of a customer's own, with nothing remembered. */
  async context(options = {}) {
    const { scheme = "light", size = DESK, ...more } = options;
    const context = await this.browser.newContext({ viewport: size, colorScheme: scheme, reducedMotion: "reduce", locale: "vi-VN", ...more });
    context.setDefaultTimeout(60_000);
    return context;
  }

  /** The chat page in `context`. `expected`: what its console may say. `hosts`: whom else it may ask. */
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
    this.#pages.push(page);
    await page.goto(url);
    return page;
  }

  /** Asks on `page`, and has the model begin its reply with these words; gives the reply, which is still being said. */
  async speaking(page, words) {
    const reply = this.model.next();
    await say(page, QUESTION);
    await reply.asked;
    // A word is shown once it has its end.
    reply.say(`${words} `);
    await message(page, words);
    return reply;
  }

  async close() {
    await this.browser?.close();
    await this.server?.close();
    this.model?.close();
  }
}

/** Says something as a customer does. */
export async function say(page, text) {
  await page.locator("#text").fill(text);
  await page.locator("#text").press("Enter");
}

/** Waits until a message with this text is shown, and gives it. */
export async function message(page, text) {
  const found = page.locator(".message", { hasText: text }).last();
  await found.waitFor();
  return found;
}

/** Waits until no turn runs and nothing is on its way. */
export async function quiet(page) {
  await page.locator("#running").waitFor({ state: "hidden" });
  await page.waitForFunction(() => !document.querySelector(".user .note, .typing"));
}

/** Has every page of `context` keep its stream of events at hand, for `play`. */
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

/** What the server sends when a person of the shop writes. */
export const written = (turn, id, text, name) => [
  { type: "turn.start", turn, message_id: id, sender: "agent", text },
  { type: "message.start", message_id: id, kind: "agent" },
  { type: "delta", message_id: id, text },
  { type: "message.end", message_id: id, kind: "agent", metadata: { type: "agent", ...(name && { name }) } },
  { type: "turn.done", turn, status: "completed", timings_ms: {} },
];

/** The text of every message that is shown, in order. */
export const texts = (page) => page.locator(".message .bubble").allInnerTexts();

/** That the browser had nothing to complain of, and asked nobody but our server. */
export function assertClean(page) {
  const wrong = page.wrong.filter((text) => !page.expected.some((pattern) => pattern.test(text)));
  assert.deepEqual(wrong, [], "the browser's console");
  assert.deepEqual(page.foreign, [], "requests to other hosts");
}

/** That axe finds nothing, with what the page (or one of its frames) shows now. */
export async function assertAccessible(page, what) {
  // Through the debugger, which a policy of the page does not hold up.
  if (!(await page.evaluate("typeof axe !== 'undefined'"))) await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`);
  assert.deepEqual(found, [], `axe on ${what}`);
}

/** Writes a picture to the folder SCREENSHOTS, if that is set. */
export async function picture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

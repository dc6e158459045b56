// Loads the pages' scripts without a browser.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const WEB = join(import.meta.dirname, "../../../src/http/web");

/** Imports a script, such as `assets/words.js`. `fakes` replaces scripts that it imports. */
export function load(path, fakes = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pages-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  cpSync(WEB, folder, { recursive: true });
  const written = { "package.json": '{"type":"module"}', ...fakes };
  for (const [name, content] of Object.entries(written)) writeFileSync(join(folder, name), content);
  return import(pathToFileURL(join(folder, path)));
}

/** Sets a global of browsers until the end of the test. */
export function give(t, name, value) {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  t.after(() => (before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name]));
}

/** Returns what a script needs of an element. `on` holds its listeners by event. */
export function fakeElement(tag, attributes = {}, ...children) {
  const held = new Map(Object.entries(attributes));
  const on = {};
  return {
    on,
    children,
    value: "",
    style: {},
    dataset: { status: attributes["data-status"] },
    lastChild: children.at(-1),
    append: (...more) => children.push(...more),
    focus() {},
    replaceChildren() {},
    insertBefore: (more) => children.push(more),
    addEventListener: (event, listener) => (on[event] = listener),
    getAttribute: (name) => held.get(name) ?? null,
    setAttribute: (name, value) => held.set(name, value),
  };
}

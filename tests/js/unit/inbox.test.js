// The inbox's list, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeElement, give, load } from "./source.js";

// The scripts that need a document.
const fakes = {
  "console/desk.js": "export const { ask, memory } = desk;",
  "assets/render.js": "export const { element } = desk;",
  "console/parts.js": "export const { button, empty, failure, labelled, loading, textElement } = desk;",
  "console/conversation.js": "export class Conversation {}",
  "console/row.js": "export class Row { constructor(id) { Object.assign(this, { id, link: desk.link(id), element: {} }); } write() {} mark() {} }",
  "assets/stream.js": "export class Stream {}",
};

const parts = (more) => Object.fromEntries(["button", "empty", "failure", "loading", "textElement"].map((name) => [name, more?.[name] ?? (() => fakeElement())]));
const settled = () => new Promise((done) => setImmediate(done));

test("a search still counts all waiting customers", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let waiting = 0;
  const made = [];
  const element = (...parts) => (made.push(fakeElement(...parts)), made.at(-1));
  const found = { counts: { waiting: 0, taken: 0 }, conversations: [] };
  give(t, "desk", {
    element,
    memory: new Map(),
    ask: async (_, path) => (path.includes("q=") ? found : { ...found, counts: { waiting, taken: 0 } }),
    labelled: (made) => made,
    ...parts(),
  });
  give(t, "document", {});
  const { inbox } = await load("console/inbox.js", fakes);
  const { Live } = await load("console/live.js", fakes);
  const seen = [];
  const counted = () => new Promise((done) => (live.onCounts = (counts) => (seen.push(counts.waiting), done())));
  const live = new Live({});
  const empty = counted();
  inbox(live);
  await empty;
  waiting = 1;
  const searched = counted();
  const search = made.find((each) => each.getAttribute("type") === "search");
  search.value = "giày";
  search.on.input();
  t.mock.timers.tick(1000);
  await searched;
  assert.deepEqual(seen, [0, 1]);
});

test("show more moves the focus to new rows", async (t) => {
  const listed = Array.from({ length: 60 }, (_, at) => ({ id: `c${at}` }));
  const [focused, made] = [[], []];
  // Keeps the focus, like a browser.
  const button = (_, press) => (made.push(Object.assign(fakeElement(), { press, hidden: true })), made.at(-1));
  give(t, "document", {});
  give(t, "desk", {
    element: fakeElement,
    memory: new Map(),
    ask: async (_, path) => {
      const limit = Number(new URLSearchParams(path.split("?")[1]).get("limit"));
      return { counts: {}, conversations: listed.slice(0, limit), next: limit < listed.length ? "more" : null };
    },
    labelled: (made) => made,
    link: (id) => ({ focus: () => focused.push(id) }),
    ...parts({ button }),
  });
  const { inbox } = await load("console/inbox.js", fakes);
  inbox({ listen: () => {}, counted() {} });
  await settled();
  assert.equal(made.length, 1);
  const [more] = made;
  assert.equal(more.hidden, false);
  document.activeElement = more;
  more.press();
  await settled();
  assert.equal(more.hidden, true);
  assert.deepEqual(focused, ["c50"]);
});

// The page's texts, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { give, load } from "./source.js";

test("a language without texts keeps the page's", async (t) => {
  const page = { documentElement: { lang: "en" }, querySelectorAll: () => [] };
  give(t, "document", page);
  const { Words } = await load("assets/words.js");
  const words = new Words({ en: { send: "Send" }, vi: { send: "Gửi" } }, "Shop", "sw");
  assert.deepEqual([words.language, words.say("send")], ["en", "Send"]);
  words.use("vi");
  words.use("sheng");
  assert.deepEqual([words.language, words.say("send"), page.documentElement.lang], ["vi", "Gửi", "vi"]);
});

// Parsing the markup of replies, without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const source = readFileSync(join(import.meta.dirname, "../../../src/http/web/assets/markup.js"), "utf8");
const { allowHosts, allowWeb, closed, parse, plain } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const allow = allowHosts("https://chat.shop.example/?persona=a", ["shop.example", "*.parts.example"]);
const paragraph = (...spans) => ({ kind: "paragraph", spans });
const bold = (...spans) => ({ kind: "bold", spans });
const code = (text) => ({ kind: "code", text });
const link = (url, text = url) => ({ kind: "link", url, text });

const cases = [
  ["plain text stays", "a < b & c", [paragraph("a < b & c")]],
  ["a line break stays inside its paragraph", "a\nb\n\nc", [paragraph("a\nb"), paragraph("c")]],
  ["bold", "a **b c** d", [paragraph("a ", bold("b c"), " d")]],
  ["single asterisks stay", "2 ** 3 ** 4, **", [paragraph("2 ** 3 ** 4, **")]],
  ["bold that is not closed is text", "a **b", [paragraph("a **b")]],
  ["code is not parsed", "`**a** [b](/c)`", [paragraph(code("**a** [b](/c)"))]],
  ["a fence", "a\n```js\nx < **y**\n```\nb", [paragraph("a"), code("x < **y**"), paragraph("b")]],
  ["a fence that is not closed yet", "```\nx", [code("x")]],
  ["a heading", "## A b\nc", [{ kind: "heading", spans: ["A b"] }, paragraph("c")]],
  ["a list", "- a\n- **b**\nc", [{ kind: "list", start: null, items: [["a"], [bold("b")]] }, paragraph("c")]],
  ["a list with empty lines between", "* a\n\n* b", [{ kind: "list", start: null, items: [["a"], ["b"]] }]],
  ["an item of two lines", "- a\n  b\n- c", [{ kind: "list", start: null, items: [["a\nb"], ["c"]] }]],
  ["numbers continue", "3. a\n4. b", [{ kind: "list", start: 3, items: [["a"], ["b"]] }]],
  ["a year begins no list", "2025. Năm mới", [paragraph("2025. Năm mới")]],
  ["a link to our host", "[a](/b)", [paragraph(link("https://chat.shop.example/b", "a"))]],
  ["a link to a host below an allowed one", "[a](https://eu.parts.example/b)", [paragraph(link("https://eu.parts.example/b", "a"))]],
  ["a star is not the host itself", "[a](https://parts.example/b)", [paragraph("[a](https://parts.example/b)")]],
  ["a link to an allowed host", "[a](https://shop.example/b)", [paragraph(link("https://shop.example/b", "a"))]],
  ["a bare link ends before its sentence does", "x https://shop.example/b.", [paragraph("x ", link("https://shop.example/b"), ".")]],
  ["a bare link in bold", "**https://shop.example/b**", [paragraph(bold(link("https://shop.example/b")))]],
];
for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(parse(text, allow), expected));

const asText = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert%281%29)",
  "[a](data:text/html,x)",
  "[a](https://evil.example/)",
  "[a](//evil.example)",
  "[a](https://shop.example@evil.example/)",
  "[a](https://user:pass@shop.example/)",
  "[a](https://evil-shop.example/)",
  "[a](https://shop.example.evil.example/)",
  "https://evil.example/?q=shop.example",
  "![a](https://shop.example/a.png)",
  "![a][b]\n[b]: https://evil.example/?secret",
  "[ ](/a)",
  "](/a)[",
  "`",
  "**".repeat(1000),
  "[".repeat(2000),
];
for (const text of asText) test(`${JSON.stringify(text.slice(0, 40))} is text`, () => assert.deepEqual(parse(text, allow), [paragraph(text)]));

const cuts = [
  ["a **b", "a **b**"],
  ["a **b ", "a **b**"],
  ["a **b*", "a **b**"],
  ["a **", "a "],
  ["a **b** c", "a **b** c"],
  ["**a**\n- **b", "**a**\n- **b**"],
  ["a **b\nc", "a **b\nc"],
  ["`**` a", "`**` a"],
  ["a `**", "a `**"],
];
for (const [text, expected] of cuts) test(`${JSON.stringify(text)} breaks off as ${JSON.stringify(expected)}`, () => assert.equal(closed(text), expected));

test("no text is lost wherever it ends", () => {
  const letters = (blocks) => JSON.stringify(blocks).replace(/"kind":"\w+"/g, "");
  const text = "Dạ **em** gợi ý:\n\n1. `A`: [xem](/a)\n2. B\n\n```\nmã\n```\n";
  for (let end = 0; end <= text.length; end += 1) {
    const shown = letters(parse(text.slice(0, end), allow));
    for (const word of text.slice(0, end).match(/[\p{L}]{2,}/gu) ?? []) assert.ok(shown.includes(word), `${word} of ${text.slice(0, end)}`);
  }
});

test("unclosed markup is parsed to the end", () => {
  for (const piece of ["**a ", "`", "[a](", "- ", "```\n", "![", "https://"]) assert.ok(parse(piece.repeat(5000), allow).length);
});

test("a preview has no markup", () => {
  assert.equal(plain("## Giá\n- **A** [xem ở đây](/a)\n- `B`\n\n```\nmã\n```"), "Giá A xem ở đây B mã");
});

test("a person's links may lead to any site", () => {
  const allow = allowWeb("https://chat.shop.example/");
  assert.equal(allow("https://ghn.vn/track?id=1"), "https://ghn.vn/track?id=1");
  for (const address of ["javascript:alert(1)", "data:text/html,x", "https://shop.example@evil.example/", "file:///etc/passwd"]) assert.equal(allow(address), null, address);
});

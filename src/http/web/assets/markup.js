// Parses the markup of replies into plain values: paragraphs, headings, lists, code, bold, and links to allowed hosts.
// Anything else stays plain text.
//
// A block is {kind: "paragraph" | "heading", spans}, {kind: "list", start, items: [spans]} (`start` is null where the
// items have no numbers) or {kind: "code", text}. A span is a string, {kind: "bold", spans}, {kind: "code", text} or
// {kind: "link", url, text}.

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*$/;
const ITEM = /^\s*(?:[-*+•]|(\d{1,3})[.)])\s+(.*)$/;
const SPAN = /`([^`\n]+)`|\*\*(?=[^\s*])([^\n]*?\S)\*\*|(!?)\[([^[\]\n]*)\]\(([^()\s]*)\)|https?:\/\/[^\s<>"']+/g;
const BARE_END = /[.,;:!?)\]}*_]+$/;

/** Returns the blocks of `text`. `allow(url)` returns the address of an allowed link, else null. */
export function parse(text, allow) {
  const blocks = [];
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  for (let at = 0; at < lines.length; ) {
    const fence = lines[at].match(FENCE)?.[1];
    const heading = lines[at].match(HEADING);
    if (fence) {
      const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence));
      blocks.push({ kind: "code", text: lines.slice(at + 1, end < 0 ? undefined : end).join("\n") });
      at = end < 0 ? lines.length : end + 1;
    } else if (heading) {
      blocks.push({ kind: "heading", spans: spans(heading[1], allow) });
      at += 1;
    } else if (ITEM.test(lines[at])) {
      at = list(lines, at, blocks, allow);
    } else if (lines[at].trim()) {
      const end = lines.findIndex((line, index) => index > at && (!line.trim() || begins(line)));
      blocks.push({ kind: "paragraph", spans: spans(lines.slice(at, end < 0 ? undefined : end).join("\n"), allow) });
      at = end < 0 ? lines.length : end;
    } else {
      at += 1;
    }
  }
  return blocks;
}

/**
 * Returns an incomplete `text` with the open bold of its last line closed. Otherwise a growing reply would show asterisks
 * for a moment.
 */
export function closed(text) {
  const line = text.slice(text.lastIndexOf("\n") + 1).replace(/`[^`]*(`|$)/g, "");
  const isOpen = line.split("**").length % 2 === 0;
  if (!isOpen) return text;
  const bare = text.trimEnd();
  return bare.endsWith("**") ? bare.slice(0, -2) : `${bare.replace(/\*$/, "")}**`;
}

const begins = (line) => FENCE.test(line) || HEADING.test(line) || ITEM.test(line);

// Adds the list that starts at line `at`, and returns the line after it. An indented line continues its item.
function list(lines, at, blocks, allow) {
  const ordered = (line) => line.match(ITEM)?.[1] !== undefined;
  const numbered = ordered(lines[at]);
  const items = [];
  const start = numbered ? Number(lines[at].match(ITEM)[1]) : null;
  for (; at < lines.length; at += 1) {
    const item = lines[at].match(ITEM);
    if (item && ordered(lines[at]) === numbered) items.push(item[2]);
    else if (!item && /^\s{2,}\S/.test(lines[at])) items[items.length - 1] += `\n${lines[at].trim()}`;
    else if (lines[at].trim() || !continues(lines[at + 1], numbered)) break;
  }
  blocks.push({ kind: "list", start, items: items.map((text) => spans(text, allow)) });
  return at;
}

// Models write empty lines between the items of one list.
const continues = (line, numbered) => {
  const item = line?.match(ITEM);
  return Boolean(item) && (item[1] !== undefined) === numbered;
};

function spans(text, allow, inBold = false) {
  const found = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, code, bold, image, label, url] = match;
    let length = whole.length;
    let span = null;
    if (code !== undefined) span = { kind: "code", text: code };
    else if (bold !== undefined) span = inBold ? null : { kind: "bold", spans: spans(bold, allow, true) };
    else if (label !== undefined) span = image || !label.trim() ? null : link(url, label, allow);
    else {
      const bare = whole.replace(BARE_END, "");
      length = bare.length;
      span = link(bare, bare, allow);
    }
    if (!span) continue;
    if (match.index > end) found.push(text.slice(end, match.index));
    found.push(span);
    end = match.index + length;
  }
  if (end < text.length) found.push(text.slice(end));
  return found;
}

function link(address, text, allow) {
  const url = allow(address);
  return url ? { kind: "link", url, text } : null;
}

/** Allows http and https links to the host of `base` and to `hosts`. */
export function allowHosts(base, hosts) {
  const own = new URL(base).host;
  return (address) => {
    const url = webAddress(address, base);
    // As in LINK_HOSTS, "*.shop.vn" covers every host below shop.vn, but not shop.vn.
    const covers = (host) => (host.startsWith("*.") ? url.hostname.endsWith(host.slice(1)) : url.hostname === host);
    return url && (url.host === own || hosts.some(covers)) ? url.href : null;
  };
}

/** Allows every http and https link. */
export const allowWeb = (base) => (address) => webAddress(address, base)?.href ?? null;

// A user name before the host would make an address look like another site.
function webAddress(address, base) {
  try {
    const url = new URL(address, base);
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    return isWeb && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}

/** Returns `text` on one line without markup. */
export const plain = (text) => parse(text, (url) => url).flatMap(flatLines).join(" ").replace(/\s+/g, " ").trim();

const flatLines = ({ items, spans, text }) => items?.map(flat) ?? [spans ? flat(spans) : text];
const flat = (spans) => spans.map((span) => (typeof span === "string" ? span : (span.text ?? flat(span.spans)))).join("");

// What every part of the console stands on: its settings, its words, its memory, and its requests.

import { byId } from "../assets/elements.js";
import { allowHosts } from "../assets/markup.js";
import { Memory } from "../assets/memory.js";
import { Phrases } from "./phrases.js";
import { request } from "../assets/request.js";

export const settings = JSON.parse(byId("settings").textContent);
export const memory = new Memory(() => localStorage, "console");

const wished = memory.get("language");
export const words = new Phrases(settings.texts, settings.name, settings.texts[wished] ? wished : settings.language);

/** Which links in a message may be followed. */
export const allow = allowHosts(location.href, settings.link_hosts);

/** Who sits here: the answer of `/console/api/me`, with what changes about it. */
export const session = { me: settings.me, onSignedOut: () => {} };

let reads = new AbortController();

/** Gives up whatever is being read, for a session that ends: whoever waits for it hears nothing any more. */
export function giveUpReads() {
  reads.abort();
  reads = new AbortController();
}

/** Asks the server. A body is sent as JSON, but for a file. */
export async function ask(method, path, body, headers = {}) {
  const signal = method === "GET" ? reads.signal : undefined;
  // On top of a customer's cookie that this browser may hold too.
  headers["x-console"] = "1";
  const isFile = body instanceof Blob;
  if (body && !isFile) headers["content-type"] = "application/json";
  try {
    return await request(path, { method, headers, body: isFile ? body : body && JSON.stringify(body), signal });
  } catch (error) {
    if (signal?.aborted) return new Promise(() => {});
    if (error.status === 401 && session.me) session.onSignedOut();
    throw error;
  }
}

/** Has a screen reader say the words of `key`, without moving anything. */
export const announce = (key, values) => announceText(words.say(key, values));

/** The same for a text that somebody wrote. */
export function announceText(text) {
  const line = document.createElement("p");
  line.textContent = text;
  const heard = byId("heard");
  heard.append(line);
  while (heard.childElementCount > 5) heard.firstChild.remove();
}

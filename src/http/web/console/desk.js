// What every view of the console shares: settings, texts, storage, session and requests.

import { allowHosts } from "../assets/markup.js";
import { Memory } from "../assets/memory.js";
import { Phrases } from "./phrases.js";
import { announce as announceText, byId } from "../assets/render.js";
import { request } from "../assets/request.js";

export const settings = JSON.parse(byId("settings").textContent);
export const memory = new Memory(() => localStorage, "console");

const wished = memory.get("language");
export const words = new Phrases(settings.texts, settings.name, settings.texts[wished] ? wished : settings.language, settings.date_formats);

/** The links that a message may contain. */
export const allow = allowHosts(location.href, settings.link_hosts);

/** The signed-in person (`/console/api/me`), and a callback for the end of the session. */
export const session = { me: settings.me, onSignedOut: () => {} };

let reads = new AbortController();

/** Aborts all running GET requests when the session ends. Their promises stay pending. */
export function abortReads() {
  reads.abort();
  reads = new AbortController();
}

/** Sends a request. A body is sent as JSON, unless it is a file. */
export async function ask(method, path, body, headers = {}) {
  const signal = method === "GET" ? reads.signal : undefined;
  // This browser may also hold a customer's cookie.
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

/** Makes screen readers announce the text of `key`. */
export const announce = (key, values) => announceText(words.say(key, values));

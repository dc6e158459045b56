// Requests to the server, and the two ways in which they fail.

/**
 * The server refused the request. Holds the members of the problem, such as `code`, and `retryAfter`, the time to wait in seconds.
 */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(`${status} ${problem.code}`);
    Object.assign(this, problem, { status, retryAfter });
  }

  /** Whether the conversation was deleted or does not belong to this browser. */
  get isGone() {
    return this.status === 401 || this.status === 404;
  }
}

/** There was no response. */
export class Unreachable extends Error {}

/** Sends a request and returns the response: an object, empty for an empty body. */
export async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Unreachable();
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    // While the server starts, a proxy responds with 502 or 504.
    if (!problem.code && response.status >= 500) throw new Unreachable();
    throw new Refusal(response.status, problem, Number(response.headers.get("retry-after")) || 5);
  }
  try {
    // The response to a cancel has no body.
    return JSON.parse((await response.text()) || "{}");
  } catch {
    throw new Unreachable();
  }
}

/** Reads every message of a conversation after the cursor `after`, oldest first. `get(path)` reads a path below it. */
export async function readHistory(get, after) {
  const messages = [];
  let first;
  let cursor = after;
  do {
    const page = await get(`history?limit=200${cursor ? `&after=${cursor}` : ""}`);
    // Resume after the first page's event: turns that end during the loop arrive again as events.
    first ??= page;
    messages.push(...page.messages);
    cursor = page.next;
  } while (cursor);
  return { conversation: first.conversation, messages, lastEventId: first.last_event_id };
}

/** Returns a random UUID for an idempotency key. `randomUUID` is missing over plain http, except on localhost. */
export const newKey = () =>
  crypto.randomUUID?.() ??
  "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) =>
    (digit ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (digit / 4)))).toString(16),
  );

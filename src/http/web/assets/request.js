// Requests to our own server, and the two ways in which they fail.

/**
 * The server said no. `code` is its word for why, `detail` its sentence, `retryAfter` the seconds to wait, `request` the id
 * under which its log has more.
 */
export class Refusal extends Error {
  constructor(status, { code, detail, request_id: request }, retryAfter) {
    super(`${status} ${code}`);
    Object.assign(this, { status, code, detail, request, retryAfter });
  }

  /** Whether the conversation is not there any more, or not open to this browser. */
  get isGone() {
    return this.status === 401 || this.status === 404;
  }
}

/** No answer came. */
export class Unreachable extends Error {}

/** Asks the server, and gives what it answers: an object, empty where the answer is. */
export async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Unreachable();
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    // A proxy that stands before a server which is starting says 502 or 504.
    if (!problem.code && response.status >= 500) throw new Unreachable();
    throw new Refusal(response.status, problem, Number(response.headers.get("retry-after")) || 5);
  }
  try {
    // A cancel is answered without a body.
    return JSON.parse((await response.text()) || "{}");
  } catch {
    throw new Unreachable();
  }
}

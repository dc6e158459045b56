// The conversation's events, for as long as the page is open. The browser's EventSource comes back by itself when a
// connection is cut, but gives up for good on any other answer; then this asks again, less and less often.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export class Stream {
  #source;
  #retry;
  #wait = FIRST_WAIT_MS;
  #connected = false;
  #listening = new AbortController();

  /**
   * `address(after)` gives the address of the events behind `after`. Calls `onEvent(event)` for each; `onConnection(up)`
   * when the connection is lost or back; `onRefused()` when the server answers with something else, before asking again.
   */
  constructor({ address, onEvent, onConnection, onRefused }) {
    Object.assign(this, { address, onEvent, onConnection, onRefused });
    const { signal } = this.#listening;
    addEventListener("offline", () => this.#source && this.#lost(), { signal });
    // A connection from before may be dead without knowing it.
    addEventListener("online", () => this.reopen(), { signal });
  }

  /** Reads what comes behind the event `after`. */
  open(after) {
    this.close();
    this.after = after;
    this.#wait = FIRST_WAIT_MS;
    this.#connect();
  }

  /** Connects anew and goes on where it stopped. */
  reopen() {
    if (this.after === undefined) return;
    this.#drop();
    // Even if nobody noticed a loss: whoever asks for what is not told again asks once the new connection stands.
    this.#connected = false;
    this.#connect();
  }

  /** Reads no more. */
  close() {
    this.#drop();
    this.after = undefined;
    this.#connected = false;
  }

  /** Reads no more, for good: the window forgets it. */
  end() {
    this.close();
    this.#listening.abort();
  }

  #drop() {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = undefined;
  }

  #connect() {
    const source = new EventSource(this.address(this.after));
    this.#source = source;
    source.onmessage = ({ data, lastEventId }) => {
      if (source !== this.#source) return;
      this.#wait = FIRST_WAIT_MS;
      this.#found();
      const event = JSON.parse(data);
      if (event.debug) return;
      if (lastEventId) this.after = lastEventId;
      this.onEvent(event);
    };
    source.onerror = () => {
      if (source !== this.#source) return;
      this.#lost();
      if (source.readyState === EventSource.CLOSED) this.#askAgain();
    };
  }

  #askAgain() {
    this.#drop();
    this.#retry = setTimeout(async () => {
      if (await this.onRefused()) this.reopen();
    }, this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }

  #lost() {
    this.#connected = false;
    this.onConnection(false);
  }

  #found() {
    if (this.#connected) return;
    this.#connected = true;
    this.onConnection(true);
  }
}

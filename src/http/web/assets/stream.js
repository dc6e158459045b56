// Reads a stream of events while the page is open. An EventSource reconnects after a lost connection, but not after an error
// response. Then this class retries with back-off.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export class Stream {
  #source;
  #retry;
  #wait = FIRST_WAIT_MS;
  #connected = false;
  #listening = new AbortController();

  /**
   * `address(after)` returns the address of the events after `after`. Calls `onEvent(event)` for each event,
   * `onConnection(up)` when the connection is lost or restored, and `onRefused()` before a retry after an error response.
   */
  constructor({ address, onEvent, onConnection, onRefused }) {
    Object.assign(this, { address, onEvent, onConnection, onRefused });
    const { signal } = this.#listening;
    addEventListener("offline", () => this.#source && this.#lost(), { signal });
    // A connection from before may be dead without an error.
    addEventListener("online", () => this.reopen(), { signal });
  }

  /** Reads the events after the event `after`. */
  open(after) {
    this.close();
    this.after = after;
    this.#wait = FIRST_WAIT_MS;
    this.#connect();
  }

  /** Reconnects and resumes after the last event. */
  reopen() {
    if (this.after === undefined) return;
    this.#drop();
    // Report the connection as restored even if no loss was noticed: listeners then read what they missed.
    this.#connected = false;
    this.#connect();
  }

  /** Closes the stream. */
  close() {
    this.#drop();
    this.after = undefined;
    this.#connected = false;
  }

  /** Closes the stream and removes its listeners. */
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
      this.#restored();
      const event = JSON.parse(data);
      if (event.debug) return;
      if (lastEventId) this.after = lastEventId;
      this.onEvent(event);
    };
    source.onerror = () => {
      if (source !== this.#source) return;
      this.#lost();
      if (source.readyState === EventSource.CLOSED) this.#retryLater();
    };
  }

  #retryLater() {
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

  #restored() {
    if (this.#connected) return;
    this.#connected = true;
    this.onConnection(true);
  }
}

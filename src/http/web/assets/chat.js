// The chat page. Reads events with an EventSource and sends messages with fetch. The transcript shows messages, and the outbox
// holds unsent ones.

import { compose } from "./composer.js";
import { allowHosts } from "./markup.js";
import { Memory } from "./memory.js";
import { Outbox } from "./outbox.js";
import { announce, byId, showConnection } from "./render.js";
import { followEnd } from "./scroll.js";
import { Session } from "./session.js";
import { Stream } from "./stream.js";
import { Transcript } from "./transcript.js";
import { Words } from "./words.js";

const settings = JSON.parse(byId("settings").textContent);
const inFrame = settings.widget && window.parent !== window;
// A widget does not receive cookies, so it stores a token until its tab is closed.
const memory = new Memory(() => (settings.widget ? sessionStorage : localStorage), settings.persona);
// The language that the customer chose, else the one in the address.
let chosen = settings.texts[memory.get("language")] ? memory.get("language") : (settings.asked_language ?? undefined);
// The page may have no texts in this language.
const preferred = () => chosen ?? settings.language;
const words = new Words(settings.texts, settings.name, preferred());
const end = followEnd(byId("scroller"), byId("transcript"), byId("below"));

const session = new Session(memory, {
  holdsToken: settings.widget,
  persona: settings.persona,
  language: chosen === settings.asked_language ? chosen : undefined,
  reads: preferred,
  onRenewed: () => settings.widget && stream.reopen(),
});

const transcript = new Transcript(byId("transcript"), words, allowHosts(location.href, settings.link_hosts), {
  onRunning: showRunning,
  onMessage(bubble) {
    // Unlike `textContent`, `innerText` separates paragraphs and list items.
    const note = bubble.note ? `\n${bubble.note.textContent}` : "";
    announce(`${bubble.who.textContent}: ${bubble.body.innerText}${note}`);
    notifyFrame("message");
  },
  onStored: (entry) => outbox.drop(entry),
  onNote: announce,
  onAskAgain(text) {
    outbox.add(text);
    composer.focus();
  },
});

const stream = new Stream({
  address: (after) => session.eventsAddress(after),
  onEvent(event) {
    if (event.type === "reset") return loadHistory();
    if (event.type === "intent") follow(event.language);
    transcript.onEvent(event);
  },
  onConnection(up) {
    showConnection(up, words);
    if (up) outbox.wake();
  },
  onRefused: isStillThere,
});

const outbox = new Outbox(memory, {
  deliver,
  onState(entry) {
    transcript.unsent(entry, () => {
      composer.focus();
      outbox.again(entry);
    });
    byId("new-chat").hidden = false;
    if (entry.state === "sending") end.toEnd();
  },
});

const composer = compose(memory, words, settings.text_max_chars, (text) => outbox.add(text));

let runningTurn;
// The conversation that is shown; undefined while the persona has only greeted.
let shown;
let reading = 0;

begin();

async function begin() {
  words.use(words.language);
  nameOtherLanguage();
  byId("close").hidden = !inFrame;
  wireButtons();
  // Notify the host page before loading the history: without a message it assumes that the browser blocked the frame.
  notifyFrame("ready");
  // On a touch device, the keyboard would cover the greeting.
  if (matchMedia("(hover: hover)").matches) composer.focus();
  memory.onChange("conversation", (held) => {
    if (held?.id !== shown) held ? loadHistory() : greet();
  });
  if (session.id) {
    transcript.notice("loading");
    session.resume();
    await loadHistory();
  } else {
    greet();
  }
  outbox.resume();
}

// Shows the persona's greeting without a conversation.
function greet(notice) {
  shown = undefined;
  stream.close();
  showConnection(true, words);
  words.use(preferred());
  const language = settings.greetings[preferred()] ? preferred() : settings.language;
  byId("transcript").lang = language;
  transcript.greet(settings.greetings[language]);
  if (notice) {
    transcript.notice(notice);
    announce(words.say(notice));
  }
  byId("new-chat").hidden = true;
}

// Shows the history and reads the events after it. Retries until the server responds.
async function loadHistory() {
  const mine = ++reading;
  shown = session.id;
  stream.close();
  for (let wait = 500; mine === reading && session.id; wait = Math.min(wait * 2, 8000)) {
    try {
      const { conversation, messages, lastEventId } = await session.history();
      if (mine !== reading) return;
      follow(conversation.preferred_language);
      transcript.show(messages, conversation.status === "taken" ? 0 : Number.parseInt(lastEventId, 10));
      byId("new-chat").hidden = false;
      end.toEnd();
      stream.open(lastEventId);
      return;
    } catch (error) {
      if (mine !== reading) return;
      if (error.isGone) return startNew("gone");
      showConnection(false, words);
      await waitOrOnline(error.retryAfter ? error.retryAfter * 1000 : wait);
    }
  }
}

// Sends a text, in a new conversation if there is none.
async function deliver(text, key) {
  if (!session.id) await openConversation();
  // Discarded while the conversation was being opened.
  if (!outbox.holds(key)) return;
  try {
    return await session.send(text, key);
  } catch (error) {
    if (!error.isGone || !outbox.holds(key)) throw error;
    startNew("gone");
    await openConversation();
    return session.send(text, key);
  }
}

async function openConversation() {
  await session.open();
  if (!session.id) return;
  shown = session.id;
  byId("new-chat").hidden = false;
  stream.open("0.0");
}

// Returns whether the conversation still exists after its events were refused. If not, starts a new one.
async function isStillThere() {
  const mine = reading;
  try {
    await session.check();
  } catch (error) {
    if (mine === reading && error.isGone) {
      startNew("gone");
      return false;
    }
  }
  return mine === reading;
}

// The page's texts follow the language of the conversation until the customer chooses one.
function follow(language) {
  byId("transcript").lang = language;
  if (!memory.get("language")) words.use(language);
  nameOtherLanguage();
}

function otherLanguage() {
  const languages = Object.keys(settings.texts);
  return languages[(languages.indexOf(words.language) + 1) % languages.length];
}

function nameOtherLanguage() {
  const button = byId("language");
  const other = otherLanguage();
  button.hidden = other === words.language;
  button.lang = other;
  button.textContent = settings.texts[other].language;
}

function choose(language) {
  chosen = language;
  memory.set("language", language);
  session.wish.language = undefined;
  words.use(language);
  nameOtherLanguage();
  if (shown === undefined) greet();
}

function startNew(notice) {
  reading += 1;
  session.forget();
  greet(notice);
}

function wireButtons() {
  const question = byId("question");
  byId("new-chat").addEventListener("click", () => question.showModal());
  byId("no").addEventListener("click", () => question.close());
  byId("yes").addEventListener("click", () => {
    question.close();
    outbox.clear();
    transcript.forgetUnsent();
    startNew();
    composer.focus();
  });
  byId("language").addEventListener("click", () => choose(otherLanguage()));
  byId("stop").addEventListener("click", stop);
  byId("close").addEventListener("click", () => notifyFrame("close"));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || question.open) return;
    if (inFrame) notifyFrame("close");
    else if (runningTurn !== undefined) stop();
  });
  addEventListener("message", ({ source, data }) => {
    if (inFrame && source === window.parent && data?.frontdesk === "opened") composer.focus();
  });
}

function stop() {
  const turn = runningTurn;
  composer.focus();
  transcript.stopping(turn);
  // The events show whether the turn has ended or the server is unreachable.
  session.cancel(turn).catch(() => {});
}

function showRunning(turn) {
  runningTurn = turn;
  const running = byId("running");
  const focused = running.contains(document.activeElement);
  running.hidden = turn === undefined;
  if (focused && running.hidden) composer.focus();
}

function notifyFrame(what) {
  // Any host page may receive this: it reveals nothing about the conversation.
  if (inFrame) window.parent.postMessage({ frontdesk: what }, "*");
}

function waitOrOnline(milliseconds) {
  return new Promise((done) => {
    setTimeout(done, milliseconds);
    addEventListener("online", done, { once: true });
  });
}

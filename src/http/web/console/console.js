// The console: sign-in, navigation and the connection.

import { Alarm } from "./alarm.js";
import { announce, ask, abortReads, memory, session, settings, words } from "./desk.js";
import { figures } from "./figures.js";
import { inbox } from "./inbox.js";
import { knowledge } from "./knowledge.js";
import { Live } from "./live.js";
import { button, dialog, failure, fill } from "./parts.js";
import { personas } from "./personas.js";
import { byId, element, showConnection } from "../assets/render.js";
import { Router } from "./router.js";
import { signIn } from "./sign-in.js";
import { warranty } from "./warranty.js";

const alarm = new Alarm(byId("sound"));
const live = new Live({
  onCounts(counts) {
    const waiting = counts.waiting;
    const badge = byId("waiting");
    badge.textContent = waiting ? words.number(waiting) : "";
    badge.hidden = !waiting;
    if (alarm.waiting(waiting)) announce("inbox.somebody_waits");
    router.title();
  },
  onConnection: (up) => showConnection(up, words),
});

const views = [
  ["inbox", inbox, true],
  ["knowledge", knowledge, false],
  ["goods", later(async () => (await import("./goods.js")).goods()), true],
  ["sales", later(async () => (await import("./sales.js")).sales()), true],
  ["warranty", warranty, true],
  ["personas", personas, false],
  ["figures", figures, true],
  ["audit", later(async () => (await import("./audit.js")).audit()), true],
];
const router = new Router(byId("view"), {
  live,
  views: new Map(views.map(([name, open]) => [name, open])),
  title: (key) => `${alarm.count ? `(${alarm.count}) ` : ""}${words.say(key)} – ${words.say("title")}`,
});

begin();

// Returns a view whose script is loaded when the view is shown, so that a first visit is small.
function later(open) {
  return () => {
    const place = element("div");
    const loaded = fill(place, async () => [(await open()).element]);
    const show = (_, moved) => void loaded.then(() => moved && place.querySelector("h1")?.focus());
    return { element: place, show };
  };
}

function begin() {
  document.documentElement.lang = words.language;
  words.write(document);
  wire();
  session.onSignedOut = () => showSignIn("sign_in.ended");
  if (session.me) enter(false);
  else if (memory.get("signed_in")) checkSession();
  else showSignIn();
}

// After a link from another site, the browser sends the session cookie only with our own requests.
async function checkSession() {
  try {
    session.me = await ask("GET", "/console/api/me");
  } catch (error) {
    if (error.status === 401) showSignIn("sign_in.ended");
    else byId("view").replaceChildren(failure(error, checkSession));
    return;
  }
  enter(false);
}

function enter(moved) {
  memory.set("signed_in", session.me.expires_at ? true : undefined);
  document.body.classList.remove("outside");
  byId("rail").hidden = false;
  byId("who").textContent = session.me.name ?? "";
  byId("sign-out").hidden = session.me.development;
  byId("development").hidden = !session.me.development;
  for (const [name, , everybody] of views) {
    document.querySelector(`#rail a[href="#/${name}"]`).parentNode.hidden = !everybody && !session.me.may_edit;
  }
  document.querySelector('#rail a[href="#/goods"]').parentNode.hidden = !session.me.sells;
  live.open();
  router.start(moved);
}

// Stops all requests.
function leave() {
  session.me = null;
  memory.set("signed_in", undefined);
  live.close();
  router.stop();
  abortReads();
}

function showSignIn(notice) {
  leave();
  alarm.waiting(0);
  showConnection(true, words);
  for (const open of document.querySelectorAll("dialog")) open.close();
  byId("rail").hidden = true;
  document.body.classList.add("outside");
  document.title = `${words.say("sign_in.title")} – ${words.say("title")}`;
  signIn(byId("view"), notice, () => enter(true));
}

// If the server could not end the session, the session stays open and the page shows the error.
async function signOut() {
  const me = session.me;
  // Stop requests before the session ends, since they would be refused.
  leave();
  try {
    await ask("DELETE", "/console/session");
  } catch (error) {
    session.me = me;
    enter(true);
    const again = () => {
      failed.close();
      signOut();
    };
    const failed = dialog("sign_out", undefined, failure(error, again), button("cancel", () => failed.close()));
    return;
  }
  showSignIn("sign_in.left");
}

function wire() {
  const other = () => words.languages.find((language) => language !== words.language);
  const language = byId("language");
  const name = () => {
    language.textContent = settings.language_names[other()] ?? "";
    language.lang = other() ?? "";
    language.hidden = !other();
  };
  name();
  language.addEventListener("click", () => {
    words.use(other());
    memory.set("language", words.language);
    name();
    router.title();
  });
  byId("sign-out").addEventListener("click", signOut);
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    (byId("view").querySelector("h1") ?? byId("view")).focus();
  });
}

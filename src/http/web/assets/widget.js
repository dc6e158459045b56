// A button and a panel for any site:
//
//     <script src="https://chat.shop.example/widget.js" data-persona="system_persona_vi" data-language="vi"></script>
//
// Both attributes are optional. The panel is a frame with our chat page, which loads when the button is first pressed.
// WIDGET_ORIGINS lists the sites that may show it. The script adds one element with a shadow root to the host page.
(() => {
  const settings = /* filled in by the server */ {};
  const script = document.currentScript;
  const persona = script.dataset.persona || settings.default;
  const spoken = settings.personas[persona];
  const server = new URL(script.src).origin;
  const problem = () => {
    if (!settings.open) return "the chat is closed: set WEB_CHAT=on";
    if (!spoken) return `data-persona must be one of ${Object.keys(settings.personas).join(", ")}`;
    if (![server, ...settings.origins].some(isHere)) return NOT_ALLOWED;
  };
  // Like a content security policy: an origin, or with `*.` every host below it.
  const isHere = (origin) => {
    const { protocol, host } = new URL(origin.replace("*.", ""));
    const sameHost = origin.includes("*.") ? location.host.endsWith(`.${host}`) : location.host === host;
    return sameHost && [protocol, "https:"].includes(location.protocol);
  };
  const NOT_ALLOWED = `this site may not show the chat: add ${location.origin} to WIDGET_ORIGINS`;
  const warn = (text) => console.warn(`frontdesk: ${text}`);
  if (problem()) return warn(problem());
  // The same choice as in the page in the frame.
  const wished = [script.dataset.language, ...navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()), spoken.first];
  const language = wished.find((code) => spoken.words[code]);
  const words = spoken.words[language];
  const address = new URL("/?widget=1", server);
  if (script.dataset.persona) address.searchParams.set("persona", persona);
  if (script.dataset.language) address.searchParams.set("language", language);

  const STYLE = `
    :host { all: initial !important; }
    * { box-sizing: border-box; }
    button {
      position: fixed; right: 20px; bottom: 20px; z-index: 2147483000; width: 60px; height: 60px; padding: 0;
      border: 0; border-radius: 50%; background: #3556c4; color: #fff; cursor: pointer;
      box-shadow: 0 4px 18px rgb(15 23 42 / .3);
    }
    button:hover { background: #2a47a8; }
    button:focus-visible { outline: 3px solid #3556c4; outline-offset: 3px; box-shadow: 0 0 0 3px #fff; }
    svg { width: 30px; height: 30px; vertical-align: middle; fill: currentColor; }
    .new::after {
      content: ""; position: absolute; top: 2px; right: 2px; width: 14px; height: 14px; border-radius: 50%;
      background: #d92d20; border: 2px solid #fff;
    }
    .panel {
      position: fixed; right: 20px; bottom: 96px; z-index: 2147483000; width: 390px; height: min(640px, calc(100dvh - 116px));
      border: 1px solid rgb(15 23 42 / .14); border-radius: 16px; overflow: hidden; background: Canvas;
      box-shadow: 0 12px 48px rgb(15 23 42 / .28); color-scheme: light dark;
    }
    .panel[hidden] { display: none; }
    iframe { display: block; width: 100%; height: 100%; border: 0; }
    iframe:not(.ready) { opacity: 0; }
    @media (max-width: 480px) {
      .panel { inset: 0; width: 100%; height: 100dvh; border: 0; border-radius: 0; }
      .panel:not([hidden]) + button { display: none; }
    }`;
  const CLOSE = "M8.5 6.4 16 13.9l7.5-7.5 2.1 2.1-7.5 7.5 7.5 7.5-2.1 2.1-7.5-7.5-7.5 7.5-2.1-2.1 7.5-7.5-7.5-7.5z";
  const ICON = "M6 4h20a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H15l-7 5.5V24H6a4 4 0 0 1-4-4V8a4 4 0 0 1 4-4z";

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const style = new CSSStyleSheet();
  style.replaceSync(STYLE);
  // Not a style element, which the host page's policy may forbid.
  root.adoptedStyleSheets = [style];

  const panel = document.createElement("div");
  panel.className = "panel";
  panel.setAttribute("role", "dialog");
  panel.setAttribute("aria-label", words.open);
  panel.hidden = true;
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-label", words.open);
  button.setAttribute("aria-expanded", "false");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 32 32");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", ICON);
  svg.append(shape);
  button.append(svg);
  root.append(panel, button);

  let frame;
  // Whether our page has loaded in the frame.
  let ready = false;
  let hasFailed = false;

  const open = () => {
    if (!frame) {
      frame = document.createElement("iframe");
      frame.src = address;
      frame.title = words.open;
      frame.lang = language;
      // The page reports when it is ready. If the browser blocks it, an error page loads instead.
      frame.addEventListener("load", () => setTimeout(giveUpUnlessReady, 1500));
      panel.append(frame);
    }
    panel.hidden = false;
    button.classList.remove("new");
    button.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-label", words.close);
    shape.setAttribute("d", CLOSE);
    frame.focus();
    if (ready) notify("opened");
  };
  const close = () => {
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", words.open);
    shape.setAttribute("d", ICON);
    button.focus();
  };
  const notify = (what) => frame.contentWindow.postMessage({ frontdesk: what }, server);

  // The server may be down for a moment, so the next click tries again, once.
  const giveUpUnlessReady = () => {
    if (ready) return;
    if (!panel.hidden) close();
    frame.remove();
    frame = undefined;
    if (!hasFailed) warn("the chat did not load");
    else {
      host.remove();
      warn(`the chat did not load again: check the server, and that WIDGET_ORIGINS contains ${location.origin}`);
    }
    hasFailed = true;
  };

  button.addEventListener("click", () => (panel.hidden ? open() : close()));
  root.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
  addEventListener("message", ({ source, origin, data }) => {
    if (!frame || source !== frame.contentWindow || origin !== server) return;
    if (data?.frontdesk === "ready") {
      ready = true;
      frame.className = "ready";
      if (!panel.hidden) notify("opened");
    } else if (data?.frontdesk === "close") {
      close();
    } else if (data?.frontdesk === "message" && panel.hidden) {
      button.classList.add("new");
    }
  });

  const place = () => document.body.append(host);
  if (document.body) place();
  else addEventListener("DOMContentLoaded", place);
})();

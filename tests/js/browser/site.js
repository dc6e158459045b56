// A shop's site on another host than the chat server, with styles that would break anything they reached.
import { createServer } from "node:http";

const STYLE = `* { font-size: 40px !important; color: red !important; } iframe, button, div { display: none !important; }
  h1, p, a { display: block !important }`;

export class Site {
  #server;

  static async start() {
    const site = new Site();
    site.widget = "";
    site.#server = createServer((_, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader("content-security-policy", `default-src 'self' ${site.server}; style-src 'unsafe-inline'; img-src data:`);
      response.end(`<!doctype html><html lang="vi"><title>Cửa hàng</title><link rel="icon" href="data:,"><style>${site.style ?? STYLE}</style>
        <main><h1>Cửa hàng</h1><p>Máy tính và phụ kiện.</p><a href="#">Giỏ hàng</a></main>
        <script src="${site.server}/widget.js" ${site.attributes ?? ""}></script></html>`);
    });
    await new Promise((done) => site.#server.listen(0, "127.0.0.1", done));
    site.url = `http://localhost:${site.#server.address().port}`;
    return site;
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

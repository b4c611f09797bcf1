/**
 * Starts a server that this page alone may talk to, and serves the page. Run it with
 * `npx bun examples/browser/serve.ts`, after `npm run build`.
 */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";

const HERE = new URL("./", import.meta.url);
const PACKAGE = new URL("../../", HERE);
const [SITE_PORT, SERVER_PORT] = [5173, 4500];

const token = randomBytes(32).toString("hex");
const file = join(mkdtempSync(join(tmpdir(), "quipu-page-")), "token");
writeFileSync(file, token, { mode: 0o600 });

const origin = `http://localhost:${SITE_PORT}`;
const url = `ws://127.0.0.1:${SERVER_PORT}`;
const auth = ["--ws-auth", "capability-token", "--ws-token-file", file, "--ws-allow-origin", origin];
const server = spawn(process.argv[2] ?? "quipu", ["app-server", "--listen", url, ...auth], { stdio: "inherit" });
process.on("exit", () => server.kill());
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());

const site = createServer((request, response) => {
  // Only a page of this origin may read the token.
  if (request.headers.host !== `localhost:${SITE_PORT}`) return response.writeHead(403).end();
  const path = normalize(new URL(request.url ?? "/", origin).pathname);
  if (path === "/settings.json") return response.end(JSON.stringify({ url, token }));
  try {
    const isScript = path.startsWith("/dist/");
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    return response.end(readFileSync(isScript ? new URL(`.${path}`, PACKAGE) : new URL("index.html", HERE)));
  } catch {
    return response.writeHead(404).end();
  }
});
site.listen(SITE_PORT, "127.0.0.1", () => console.log(`Open ${origin}`));

/** The client in a real browser: a page connects to the real server over a websocket, with a token. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { listener } from "../listener.ts";
import { noQuipu, PACKAGE, scratch, script, test, without } from "../support.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const DIRECTORIES = (process.env["PATH"] ?? "").split(":");
const paths = PROGRAMS.flatMap((name) => DIRECTORIES.map((directory) => join(directory, name)));
const CHROMIUM = process.env["CHROMIUM"] ?? paths.find((path) => existsSync(path));
const isBuilt = existsSync(join(PACKAGE, "dist"));
const skip =
  noQuipu ||
  without(CHROMIUM, "no Chromium; install it or set CHROMIUM") ||
  without(isBuilt, "the package is not built; run `npm run build`");

/** Runs in the page; posts what it saw. */
const PAGE = `<!doctype html><script type="module">
  const report = (seen) => fetch("/report", { method: "POST", body: JSON.stringify(seen) });
  try {
    const { CodexClient, tool } = await import("/dist/websocket.js");
    const { url, token, input } = await (await fetch("/settings")).json();
    const add = tool({
      name: "add",
      description: "Adds.",
      inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
      run: ({ a, b }) => String(a + b),
    });
    const client = new CodexClient({ url, token, model: null, tools: [add], reconnect: false });
    await client.connect();
    const { id: threadId } = await client.startThread();
    const words = [];
    client.on("item:agentMessage:delta", ({ text }) => words.push(text));
    const stream = client.stream({ threadId, input });
    const methods = new Set();
    for await (const { method } of stream) methods.add(method);
    const { agentMessage, items } = await stream.result();
    const sum = items.find((item) => item.type === "dynamicToolCall")?.contentItems[0].text;
    await client.disconnect();
    await report({ words, agentMessage, sum, isEnded: methods.has("turn/completed"), isConnected: client.connected });
  } catch (error) {
    await report({ error: String(error) });
  }
</script>`;

/** What a page reports that is opened under this host name. */
async function visit(host: string, settings: object, place: { work: string }, port: number, site: ReturnType<typeof createServer>) {
  const reported = new Promise<string>((resolve) => {
    site.removeAllListeners("request");
    site.on("request", (request, response) => {
      const path = request.url ?? "/";
      if (path === "/settings") return response.end(JSON.stringify(settings));
      if (path === "/report") {
        let body = "";
        request.on("data", (piece) => (body += String(piece)));
        request.on("end", () => (response.end(), resolve(body)));
        return;
      }
      const isScript = path.startsWith("/dist/") && existsSync(join(PACKAGE, path));
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      return response.end(isScript ? readFileSync(join(PACKAGE, path)) : PAGE);
    });
  });
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"];
  const profile = `--user-data-dir=${join(place.work, `profile-${host}`)}`;
  const browser = spawn(CHROMIUM ?? "", [...flags, profile, `http://${host}:${port}/`], { stdio: "ignore" });
  const ended = once(browser, "exit");
  const seen = await Promise.race([reported, ended.then(() => '{"error":"the browser ended"}')]);
  browser.kill("SIGTERM");
  await ended;
  return JSON.parse(seen) as Record<string, unknown>;
}

test("a page that is allowed runs a turn, and another one is refused", { skip }, async () => {
  using place = scratch();
  const token = "0123456789abcdef0123456789abcdef";
  writeFileSync(join(place.home, "token"), token, { mode: 0o600 });
  const site = createServer().listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  const auth = ["--ws-auth", "capability-token", "--ws-token-file", join(place.home, "token")];
  const server = await listener(place, [...auth, "--ws-allow-origin", `http://127.0.0.1:${port}`]);
  try {
    const calls = [{ name: "add", arguments: { a: 1, b: 2 } }];
    const input = script({ calls }, { deltas: ["Gr", "üße 🦙"] });
    const settings = { url: server.url, token, input };
    assert.deepEqual(await visit("127.0.0.1", settings, place, port, site), {
      words: ["Gr", "üße 🦙"],
      agentMessage: "Grüße 🦙",
      sum: "3",
      isEnded: true,
      isConnected: false,
    });
    assert.match(String((await visit("localhost", settings, place, port, site))["error"]), /cannot connect/);
  } finally {
    site.close();
    site.closeAllConnections();
    await server.end();
  }
});

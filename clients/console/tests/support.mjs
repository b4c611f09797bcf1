// What the tests need: a real server with its offline model, and pages in a real Chromium.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

export const ROOT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
export const IMAGES = join(ROOT, "docs/images");

const BUILDS = ["debug", "release"].map((build) => join(ROOT, "target", build, "quipu"));
const QUIPU = process.env.QUIPU_BIN ?? BUILDS.find((path) => existsSync(path));
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const paths = PROGRAMS.flatMap((name) => (process.env.PATH ?? "").split(":").map((directory) => join(directory, name)));
const CHROMIUM = process.env.CHROMIUM ?? paths.find((path) => existsSync(path));

/** Why tests are skipped, or `false`. With `QUIPU_CI_ALL` nothing may be lacking. */
const skip = (() => {
  const lacking = !QUIPU
    ? "no quipu binary; build it or set QUIPU_BIN"
    : !CHROMIUM
      ? "no Chromium; install it or set CHROMIUM"
      : false;
  if (lacking && process.env.QUIPU_CI_ALL) throw new Error(`${lacking}, and QUIPU_CI_ALL demands it`);
  return lacking;
})();

/** Directories of a test's own, and the servers in them; all are gone at its end. */
class Place {
  #path = mkdtempSync(join(tmpdir(), "quipu-console-"));
  home = join(this.#path, "home");
  work = join(this.#path, "work");
  #children = new Set();
  #wires = new Set();

  constructor() {
    mkdirSync(this.home);
    mkdirSync(this.work);
  }

  /** Starts the program and waits for a line on its standard error. */
  async start(args, line) {
    const env = { ...process.env, QUIPU_HOME: this.home, CODEX_HOME: this.home };
    const child = spawn(QUIPU, args, { cwd: this.work, env, stdio: ["ignore", "ignore", "pipe"] });
    this.#children.add(child);
    const ended = once(child, "exit").then(() => this.#children.delete(child));
    let said = "";
    const found = await new Promise((resolve, reject) => {
      child.once("exit", () => reject(new Error(`it ended: ${said}`)));
      child.stderr.on("data", (piece) => {
        said += String(piece);
        const match = line.exec(said);
        if (match) resolve(match[1]);
      });
    });
    const kill = async (signal = "SIGKILL") => {
      child.kill(signal);
      await ended;
    };
    return { found, kill, ended };
  }

  /** A server without authentication, on a port. */
  async serve(port = 0, more = []) {
    const args = [
      "app-server",
      "-c",
      'model_provider="offline"',
      "--listen",
      `ws://127.0.0.1:${port}`,
      "--console",
      ...more,
    ];
    const { found, kill } = await this.start(args, /console: (http:\S+)\n[\s\S]*note/);
    return { url: found, port: Number(new URL(found).port), kill };
  }

  /** A way to the server that can be cut. */
  async wire(port) {
    const sockets = new Set();
    const wire = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      for (const [from, to] of [
        [client, server],
        [server, client],
      ]) {
        sockets.add(from);
        from.pipe(to);
        from.on("error", () => to.destroy()).on("close", () => (sockets.delete(from), to.destroy()));
      }
    }).listen(0, "127.0.0.1");
    this.#wires.add(wire);
    await once(wire, "listening");
    const cut = () => sockets.forEach((socket) => socket.destroy());
    return { url: `http://127.0.0.1:${wire.address().port}/`, cut };
  }

  /** A stored thread of many turns: one that was run, repeated. */
  async longThread(turns) {
    const steps = [
      { reasoning: "One thing after the other.", calls: [{ name: "exec_command", arguments: { cmd: "seq 1 12" } }] },
      { text: "# Done\n\nA **paragraph** of text with `code`, and a list:\n\n- one\n- two\n\n```sh\nls -l\n```" },
    ];
    const env = { ...process.env, QUIPU_HOME: this.home, CODEX_HOME: this.home };
    const run = spawn(QUIPU, ["exec", "--skip-git-repo-check", "-c", 'model_provider="offline"', script(...steps)], {
      cwd: this.work,
      env,
      stdio: "ignore",
    });
    await once(run, "exit");
    const file = readdirSync(join(this.home, "sessions"), { recursive: true }).find((name) => name.endsWith(".jsonl"));
    const path = join(this.home, "sessions", file);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const start = lines.findIndex((line) => line.includes('"task_started"'));
    const turn = lines.slice(start).join("\n");
    const [id] = /(?<="turn_id":")[^"]+/.exec(turn);
    const copy = (at) => {
      const number = String(at).padStart(12, "0");
      return turn.replaceAll(id, id.slice(0, -12) + number).replaceAll(/call_[0-9a-f]{20}/g, `call_${number}`);
    };
    const copies = Array.from({ length: turns }, (_, at) => copy(at));
    writeFileSync(path, `${[...lines.slice(0, start), ...copies].join("\n")}\n`);
    return /[0-9a-f]{8}-[0-9a-f-]{27}(?=\.jsonl)/.exec(file)[0];
  }

  file(path, text) {
    mkdirSync(dirname(join(this.work, path)), { recursive: true });
    writeFileSync(join(this.work, path), text);
  }

  end() {
    for (const wire of this.#wires) wire.close();
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.#path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A browser. Every request that leaves the server's origin fails the test that opened the page. */
class Browser {
  #browser;

  static async launch() {
    const browser = new Browser();
    browser.#browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    return browser;
  }

  /** A person with their own storage. */
  async person(options = {}) {
    const context = await this.#browser.newContext({
      viewport: { width: 1200, height: 800 },
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(60_000);
    return context;
  }

  close() {
    return this.#browser.close();
  }
}

let browser;
before(async () => {
  if (!skip) browser = await Browser.launch();
});
after(() => browser?.close());

/** A test with a place and a browser. */
export function check(name, run) {
  test(name, { skip, timeout: 240_000 }, async () => {
    const place = new Place();
    const people = [];
    const person = async (options) => {
      people.push(await browser.person(options));
      return people.at(-1);
    };
    try {
      await run({ place, person });
    } catch (error) {
      // What the pages showed says more than the error.
      const pages = people.flatMap((it) => it.pages());
      const directory = process.env.QUIPU_FAILURES;
      for (const [at, page] of pages.entries()) {
        if (directory)
          await page.screenshot({ path: join(directory, `${name.replaceAll(/\W+/g, "-")}-${at}.png`) }).catch(() => {});
        if (page.problems?.length > 0) process.stderr.write(`page ${at}: ${page.problems.join("; ")}\n`);
      }
      throw error;
    } finally {
      for (const it of people) await it.close();
      place.end();
    }
  });
}

/** While the page is being written: the bundle as it is on disk, in place of the one in the program. */
async function fresh(route) {
  const response = await route.fetch();
  const name = new URL(route.request().url()).pathname;
  await route.fulfill({ response, body: readFileSync(join(ROOT, "crates/console/assets", name)) });
}

/** Opens a page and keeps account of what goes wrong in it. */
export async function visit(context, url, hash = "") {
  const page = await context.newPage();
  page.problems = [];
  page.foreign = [];
  const { origin } = new URL(url);
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on(
    "request",
    (request) =>
      /^(data|blob):/.test(request.url()) ||
      new URL(request.url()).origin === origin ||
      page.foreign.push(request.url()),
  );
  page.on("dialog", (dialog) => (page.problems.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  if (process.env.QUIPU_FRESH_ASSETS) await page.route(/console\.(js|css)$/, fresh);
  await page.goto(url + hash);
  await page.getByLabel("Message", { exact: true }).waitFor();
  return page;
}

/** A script of the offline model. */
export const script = (...steps) => JSON.stringify({ script: steps });

/** Writes a message and sends it. */
export async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** Waits for the end of the latest turn. */
export async function ended(page, state = "Done") {
  await page.locator(".foot").last().getByText(state, { exact: true }).waitFor();
}

/** Nothing went wrong, and nothing was asked of other hosts. */
export function clean(page) {
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.foreign, []);
}

/** Sets what a page shows after an approval is needed for everything. */
export async function choose(page, label, value) {
  await page.getByRole("combobox", { name: label, exact: true }).selectOption(value);
}

/** A screenshot for the documentation, if they are being made. */
export async function screenshot(page, name) {
  if (!process.env.QUIPU_SCREENSHOTS) return;
  mkdirSync(IMAGES, { recursive: true });
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
}

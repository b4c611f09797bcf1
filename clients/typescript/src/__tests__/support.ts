/** What several tests need: the server under test, a scripted one, and a transport without a process. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";

import { type ClientEvents, CodexClient, type CodexClientOptions, type CodexError, type JsonRpcMessage, type Transport } from "../index.ts";

/** The directory of the package; tests run from its sources or from a build. */
export const PACKAGE: string = fileURLToPath(new URL("../..", import.meta.url));

const BUILDS = ["debug", "release"].map((build) => join(PACKAGE, "../../target", build, "quipu"));

/** The server under test. */
export const QUIPU: string | undefined = process.env["QUIPU_BIN"] ?? BUILDS.find((path) => existsSync(path));

/** Why a test is skipped for lack of something, or `false`. With `QUIPU_CI_ALL` nothing may be lacking. */
export function without(thing: unknown, what: string): string | false {
  if (thing) return false;
  if (process.env["QUIPU_CI_ALL"]) throw new Error(`${what}, and QUIPU_CI_ALL demands it`);
  return what;
}

/** A busy machine may take this long for a test; some runtimes have less patience. */
const TIMEOUT_MS = 60_000;

/** A test in whichever runtime it runs. */
export function test(name: string, ...rest: [() => unknown] | [{ skip: string | false }, () => unknown]): void {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  void nodeTest(name, { timeout: TIMEOUT_MS, ...options }, async () => {
    await run();
  });
}

/** The reason to skip a test of the real server. */
export const noQuipu: string | false = without(QUIPU, "no quipu binary; build it or set QUIPU_BIN");

/** Directories of its own for a test: a home for the server, and another one to work in. */
export interface Scratch {
  home: string;
  work: string;
  [Symbol.dispose](): void;
}

export function scratch(): Scratch {
  const path = mkdtempSync(join(tmpdir(), "quipu-ts-"));
  const [home, work] = [join(path, "home"), join(path, "work")];
  mkdirSync(home);
  mkdirSync(work);
  return { home, work, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The options of a client of the real server with its offline model. */
export function quipu({ home, work }: Scratch, options: CodexClientOptions = {}): CodexClientOptions {
  return {
    model: null,
    command: QUIPU ?? "quipu",
    args: ["app-server", "-c", 'model_provider="offline"'],
    env: { QUIPU_HOME: home, CODEX_HOME: home },
    cwd: work,
    stderr: "ignore",
    ...options,
  };
}

/** A script for the offline model as the input of a turn. */
export function script(...steps: object[]): { type: "text"; text: string }[] {
  return [{ type: "text", text: JSON.stringify({ script: steps }) }];
}

/** A client of the scripted server, which behaves as `mode` says. */
export function scripted(mode: string, options: CodexClientOptions = {}): CodexClient {
  const program = join(PACKAGE, "src/__tests__/scripted-server.mjs");
  const isDeno = "Deno" in globalThis;
  return new CodexClient({
    command: process.execPath,
    args: [...(isDeno ? ["run", "-A"] : []), program, mode],
    stderr: "ignore",
    ...options,
  });
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return existsSync("/proc/self") ? false : true;
  }
}

/** The arguments of the next event of a name. */
export function next<E extends keyof ClientEvents>(client: CodexClient, event: E): Promise<ClientEvents[E]> {
  return new Promise((resolve) => client.once(event, (...args) => resolve(args)));
}

/** Waits until something holds, for as long as the test may take. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

type Wire = { id?: number; method?: string; params?: unknown; result?: unknown; error?: unknown };

/** A server that is written in the test: what it answers, and what it says. */
export class ScriptedTransport implements Transport {
  readonly sent: Wire[] = [];
  isClosed = false;
  readonly #answers: Record<string, (params: never) => unknown>;
  #message: (message: JsonRpcMessage) => void = () => {};
  #close: (error: CodexError) => void = () => {};

  /** @param answers the result of each request by method, or `{ error }`; a request of another method stays open */
  constructor(answers: Record<string, (params: never) => unknown> = {}) {
    this.#answers = { initialize: () => ({ userAgent: "scripted/0.118.0" }), ...answers };
  }

  send(message: JsonRpcMessage): void {
    const wire = message as Wire;
    this.sent.push(wire);
    const answer = wire.method === undefined ? undefined : this.#answers[wire.method];
    if (!answer || wire.id === undefined) return;
    const { id } = wire;
    queueMicrotask(() => {
      const result = answer(wire.params as never) as object;
      this.says("error" in result ? { id, ...result } : { id, result });
    });
  }

  onMessage(handler: (message: JsonRpcMessage) => void): void {
    this.#message = handler;
  }

  onClose(handler: (error: CodexError) => void): void {
    this.#close = handler;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  /** The server says something, in the form of a message or not. */
  says(message: unknown): void {
    this.#message(message as JsonRpcMessage);
  }

  /** The server notifies of something. */
  notifies(method: string, params: object): void {
    this.#message({ method, params });
  }

  /** The server is gone. */
  breaks(error: CodexError): void {
    this.#close(error);
  }

  /** The last request of a method. */
  last(method: string): Wire | undefined {
    return this.sent.findLast((message) => message.method === method);
  }
}

/** A connected client of a scripted server. */
export async function connected(
  answers: Record<string, (params: never) => unknown> = {},
  options: CodexClientOptions = {},
): Promise<{ client: CodexClient; server: ScriptedTransport }> {
  const server = new ScriptedTransport(answers);
  const client = new CodexClient({ ...options, transport: server });
  await client.connect();
  return { client, server };
}

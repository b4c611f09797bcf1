/** A server as a child process, on its standard streams. */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve, sep } from "node:path";

import { type CodexError, ExitedError, ProtocolError } from "./errors.ts";
import { Family } from "./family.ts";
import { LineSplitter } from "./lines.ts";
import type { JsonRpcMessage, Transport } from "./types.ts";

export type { Transport } from "./types.ts";

/** How a server is started. */
export interface SpawnOptions {
  /** The program: a path, or a name in `PATH`. If not given, `quipu`, or `codex` where there is no `quipu`. */
  command?: string;
  /** Its arguments; `["app-server"]` if not given. */
  args?: string[];
  /** Variables to set, or to remove with `undefined`, in the environment that it inherits. */
  env?: Record<string, string | undefined>;
  /** The directory that it runs in; this process's if not given. */
  cwd?: string;
  /** What becomes of its standard error: `inherit` (as if it were this process's), `ignore`, or a function. */
  stderr?: "inherit" | "ignore" | ((text: string) => void);
  /** Milliseconds that it has to end by itself once its input is closed; 5000 if not given. */
  shutdownMs?: number;
}

/** How much of standard error is kept. */
const STDERR_LENGTH = 8 * 1024;
/** How long output may stay open and silent after the end of the process: someone else may hold it. */
const LAST_WORDS_MS = 500;
/** How much is read at once. Between two such pieces those who follow events have their turn. */
const PIECE = 64 * 1024;
const SHUTDOWN_MS = 5000;

/** Those to kill when this process ends before they do. */
const living = new Set<Family>();

function killTheLiving(): void {
  for (const family of living) family.killOnce();
}

/** Deno ends at an error that nobody catches without the event `exit`. */
function killUnlessPrevented(event: Event): void {
  if (!event.defaultPrevented) killTheLiving();
}

function killAtExit(): void {
  if (process.listeners("exit").includes(killTheLiving)) return;
  process.on("exit", killTheLiving);
  if (!("Deno" in globalThis)) return;
  for (const event of ["error", "unhandledrejection"]) globalThis.addEventListener(event, killUnlessPrevented);
}

/** A server as a child process: a message is a line of its standard input or output. */
export class StdioTransport implements Transport {
  readonly #process: ChildProcess;
  readonly #family: Family | undefined;
  readonly #shutdownMs: number;
  readonly #ended: Promise<void>;
  /** Of standard error. */
  readonly #decoder = new TextDecoder();
  #tail = "";
  #lastRead = 0;
  #patience: ReturnType<typeof setTimeout> | undefined;
  #closing = false;
  #failure: CodexError | undefined;
  #message: (message: JsonRpcMessage, size?: number) => void = () => {};
  #close: (error: CodexError) => void = () => {};
  #warning: (error: CodexError) => void = () => {};

  /**
   * @param process a server that was started with pipes for its standard streams
   * @param family what to end with it, if it leads a process group of its own
   */
  constructor(process: ChildProcess, options: Pick<SpawnOptions, "stderr" | "shutdownMs"> = {}, family?: Family) {
    this.#process = process;
    this.#family = family;
    this.#shutdownMs = options.shutdownMs ?? SHUTDOWN_MS;
    if (family) living.add(family);
    const lines = new LineSplitter(
      (line) => this.#line(line),
      (limit) => this.#warning(new ProtocolError(`a line is longer than ${limit} characters and was discarded`)),
    );
    process.stdout?.on("data", (piece: Uint8Array) => this.#read(lines, piece));
    process.stdout?.on("end", () => lines.end());
    process.stderr?.on("data", (piece: Uint8Array) => this.#heard(piece, options.stderr ?? "inherit"));
    // A pipe that breaks is the end of the process, which is reported once.
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream?.on("error", () => {});
    this.#ended = this.#watch();
  }

  /** Starts a server in a process group of its own. */
  static spawn(options: SpawnOptions = {}): StdioTransport {
    const { env, mark } = Family.environment({ ...process.env, ...options.env });
    const command = found(options.command);
    const child = spawn(command, options.args ?? ["app-server"], {
      cwd: options.cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    killAtExit();
    const family = child.pid === undefined ? undefined : new Family(child.pid, mark);
    return new StdioTransport(child, options, family);
  }

  get stderr(): string {
    return this.#tail;
  }

  /** The process id of the server. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(message: JsonRpcMessage): void {
    if (this.#failure) throw this.#failure;
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  onMessage(handler: (message: JsonRpcMessage, size?: number) => void): void {
    this.#message = handler;
  }

  onClose(handler: (error: CodexError) => void): void {
    this.#close = handler;
    if (this.#failure) handler(this.#failure);
  }

  onWarning(handler: (error: CodexError) => void): void {
    this.#warning = handler;
  }

  /** Closes the server's input, gives it time to end, and kills whatever is left of it. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#family?.remember();
    this.#process.stdin?.end();
    const overdue = setTimeout(() => {
      this.#family?.remember();
      this.#process.kill("SIGKILL");
    }, this.#shutdownMs);
    await this.#ended;
    clearTimeout(overdue);
  }

  /** Resolves when the process and all that it started are gone and its output is read. */
  async #watch(): Promise<void> {
    const child = this.#process;
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const exit = await new Promise<Error | undefined>((resolve) => {
      child.once("error", resolve);
      child.once("exit", () => resolve(undefined));
      if (child.exitCode !== null || child.signalCode !== null) resolve(undefined);
    });
    if (this.#family) {
      await this.#family.kill();
      living.delete(this.#family);
    }
    if (!exit) await Promise.race([closed, this.#silence()]);
    clearTimeout(this.#patience);
    this.#failure = this.#reason(exit);
    if (!this.#closing) this.#close(this.#failure);
  }

  #reason(error: Error | undefined): CodexError {
    const { exitCode, signalCode: signal, spawnfile } = this.#process;
    const details = { stderr: this.#tail, cause: error };
    if (error) return new ExitedError(`cannot start \`${spawnfile}\`: ${error.message}`, {}, details);
    const how = signal ? `was ended by ${signal}` : `exited with code ${exitCode}`;
    return new ExitedError(`the server ${how}`, { exitCode, signal }, details);
  }

  /** Resolves when nothing was read for a while. */
  async #silence(): Promise<void> {
    const since = () => performance.now() - Math.max(this.#lastRead, begin);
    const begin = performance.now();
    while (since() < LAST_WORDS_MS) {
      await new Promise((resolve) => (this.#patience = setTimeout(resolve, LAST_WORDS_MS - since())));
    }
  }

  #read(lines: LineSplitter, piece: Uint8Array): void {
    this.#lastRead = performance.now();
    lines.push(piece.subarray(0, PIECE));
    if (piece.length <= PIECE) return;
    const { stdout } = this.#process;
    stdout?.pause();
    setImmediate(() => {
      stdout?.resume();
      this.#read(lines, piece.subarray(PIECE));
    });
  }

  #line(line: string): void {
    if (line === "") return;
    let message: JsonRpcMessage;
    try {
      message = JSON.parse(line) as JsonRpcMessage;
    } catch (cause) {
      const beginning = line.slice(0, 200);
      return this.#warning(new ProtocolError(`a line is not JSON: ${beginning}`, { cause, data: beginning }));
    }
    this.#message(message, line.length);
  }

  #heard(piece: Uint8Array, sink: NonNullable<SpawnOptions["stderr"]>): void {
    const text = this.#decoder.decode(piece, { stream: true });
    this.#tail = (this.#tail + text).slice(-STDERR_LENGTH);
    if (sink === "inherit") process.stderr.write(piece);
    else if (sink !== "ignore") sink(text);
  }
}

/** The program as it is found from here, whatever directory the server is to run in. */
function found(command: string | undefined): string {
  if (command === undefined) return ["quipu", "codex"].find(isInPath) ?? "quipu";
  return command.includes("/") || command.includes(sep) ? resolve(command) : command;
}

function isInPath(name: string): boolean {
  const ends = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return directories.some((directory) => ends.some((end) => isExecutable(join(directory, name + end))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

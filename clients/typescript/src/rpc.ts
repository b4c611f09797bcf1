/** The mechanics of requests and answers over any transport. */

import { AbortedError, CodexError, ExitedError, ProtocolError, RefusedError, TimeoutError } from "./errors.ts";
import type { CallOptions, JsonRpcError, JsonRpcMessage, Transport } from "./types.ts";

/** The longest delay that timers know. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The number of an event among those of its thread, from servers that number them. */
export interface EventNumber {
  seq: number;
  /** The deltas before it are left out. */
  condensed?: boolean;
}

/** What happens on a connection. */
export interface PeerEvents {
  notification(method: string, params: unknown, size: number, number: EventNumber | undefined): void;
  request(id: number | string, method: string, params: unknown): void;
  warning(error: CodexError): void;
  /** The connection is gone; all pending requests have been rejected. */
  closed(error: CodexError): void;
}

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: CodexError): void;
}

/** One connection: numbers requests from 0 and gives each answer to the one who waits for it. */
export class Peer {
  readonly transport: Transport;
  readonly #events: PeerEvents;
  readonly #pending = new Map<number | string, Pending>();
  /** Requests whose answer nobody waits for any more. */
  readonly #abandoned = new Set<number | string>();
  #nextId = 0;
  #closed: CodexError | undefined;

  constructor(transport: Transport, events: PeerEvents) {
    this.transport = transport;
    this.#events = events;
    transport.onMessage((message, size) => this.#take(message, size ?? 0));
    transport.onClose?.((error) => this.close(error));
    transport.onWarning?.((error) => events.warning(error));
  }

  /** The last words of the server's process. */
  get stderr(): string {
    return this.transport.stderr ?? "";
  }

  /** Sends a request; the answer resolves the promise. */
  call(method: string, params: unknown, { timeoutMs = Infinity, signal }: CallOptions = {}): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    if (signal?.aborted) return Promise.reject(new AbortedError(signal.reason));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = <T>(finish: (value: T) => void) => {
        return (value: T) => {
          this.#pending.delete(id);
          clearTimeout(timer);
          signal?.removeEventListener("abort", abort);
          finish(value);
        };
      };
      const fail = settle<CodexError>(reject);
      const abandon = (error: CodexError) => {
        this.#abandoned.add(id);
        fail(error);
      };
      const abort = () => abandon(new AbortedError(signal?.reason));
      const late = () => abandon(new TimeoutError(method, timeoutMs, this.stderr));
      const timer = timeoutMs <= LONGEST_TIMER ? setTimeout(late, timeoutMs) : undefined;
      signal?.addEventListener("abort", abort);
      this.#pending.set(id, { method, resolve: settle(resolve), reject: fail });
      try {
        this.transport.send(params === undefined ? { method, id } : { method, id, params });
      } catch (cause) {
        fail(new ExitedError(`cannot send \`${method}\`: ${text(cause)}`, {}, { cause, stderr: this.stderr }));
      }
    });
  }

  /** Sends a message that is not answered. */
  notify(method: string, params?: unknown): void {
    this.#send(params === undefined ? { method } : { method, params });
  }

  /** Answers a request of the server. */
  respond(id: number | string, answer: { result: unknown } | { error: JsonRpcError }): void {
    this.#send({ id, ...answer });
  }

  /** Ends it: everyone who waits gets the error. */
  close(error: CodexError): void {
    if (this.#closed) return;
    this.#closed = error;
    for (const pending of [...this.#pending.values()]) pending.reject(error);
    this.#events.closed(error);
  }

  #send(message: JsonRpcMessage): void {
    if (this.#closed) return;
    try {
      this.transport.send(message);
    } catch {
      // The connection is gone, which `closed` reports.
    }
  }

  #take(message: JsonRpcMessage, size: number): void {
    if (this.#closed) return;
    if (typeof message !== "object" || message === null) {
      return this.#events.warning(new ProtocolError("a message is not an object", { data: message }));
    }
    if ("method" in message && typeof message.method === "string") {
      if ("id" in message) return this.#events.request(message.id, message.method, message.params);
      const { quipu } = message as { quipu?: EventNumber };
      return this.#events.notification(message.method, message.params, size, quipu);
    }
    if ("id" in message && ("result" in message || "error" in message)) {
      return this.#answer(message.id, message.result, message.error);
    }
    this.#events.warning(new ProtocolError("a message is neither a request nor an answer", { data: message }));
  }

  #answer(id: number | string | null, result: unknown, error: JsonRpcError | undefined): void {
    const pending = id === null ? undefined : this.#pending.get(id);
    if (pending) {
      if (error) pending.reject(new RefusedError(pending.method, error, this.stderr));
      else pending.resolve(result);
    } else if (id === null || !this.#abandoned.delete(id)) {
      const about = error ? error.message : `there is no request ${String(id)}`;
      this.#events.warning(new ProtocolError(`an answer to no request: ${about}`, { data: error }));
    }
  }
}

/** What an error says. */
export function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Keeps a rejection that nobody handles from ending the program. Callers that wait still get it. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** Waits for something, unless the signal ends the wait. */
export async function unless<T>(signal: AbortSignal | undefined, wait: Promise<T>): Promise<T> {
  if (!signal) return wait;
  if (signal.aborted) throw new AbortedError(signal.reason);
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new AbortedError(signal.reason));
    signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Waits for a time, unless the signal ends the wait. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await unless(signal, new Promise((resolve) => (timer = setTimeout(resolve, ms))));
  } finally {
    clearTimeout(timer);
  }
}

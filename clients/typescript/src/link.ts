/** The connection of a client through its whole life: dialled, introduced, used, broken, made again, ended. */

import { type CodexError, ExitedError, ProtocolError, RefusedError } from "./errors.ts";
import type { ConnectionEvents } from "./events.ts";
import type * as protocol from "./generated/protocol.ts";
import { type EventNumber, pause, Peer, quiet, unless } from "./rpc.ts";
import type { CallOptions, Thread, Transport } from "./types.ts";

/** Whether and how a broken connection is made again. */
export interface ReconnectOptions {
  /** How often it is tried before the client gives up. Default: 10. */
  attempts?: number;
  /** The pause before the first attempt, which doubles each time. Default: 250 ms. */
  firstDelayMs?: number;
  /** The longest pause. Default: 10 seconds. */
  longestDelayMs?: number;
}

/** How a client reaches its server. */
export interface Dialer {
  open(signal: AbortSignal): Transport | Promise<Transport>;
  /** Absent if a connection that broke is gone for good. */
  reconnect?: ReconnectOptions;
}

/** What happens to a connection and on it. */
export interface LinkEvents {
  notification(method: string, params: unknown, size: number): void;
  request(peer: Peer, id: number | string, method: string, params: unknown): void;
  /** The connection is broken, for now or for good: questions of the server cannot be answered any more. */
  broken(error: CodexError): void;
  /** A thread in use was resumed after the connection was broken. */
  resumed(thread: Thread): void;
  /** The connection is gone for good. */
  gone(error: CodexError): void;
  emit<E extends keyof ConnectionEvents>(event: E, ...args: ConnectionEvents[E]): void;
}

/** The server is overloaded and did not take the request in, so it can be sent again. */
const OVERLOADED = -32001;
const RETRIES = 5;
const FIRST_RETRY_MS = 100;
/** The requests that a server which numbers events lets be repeated, by a key. */
const KEYED = new Set(["thread/start", "thread/fork", "turn/start", "turn/steer"]);

/** One connection at a time to one server. */
export class Link {
  /** What the server said of itself. */
  server: Partial<protocol.InitializeResponse> = {};
  readonly #dialer: Dialer;
  readonly #introduction: protocol.InitializeParams;
  readonly #timeoutMs: number;
  readonly #events: LinkEvents;
  #peer: Peer | undefined;
  #connecting: Promise<void> | undefined;
  #reconnecting: Promise<void> | undefined;
  /** Aborted by `disconnect`. */
  #life = new AbortController();
  #stderr = "";
  /** Threads whose events come to this connection. */
  readonly #followed = new Set<string>();
  /** The last event that was seen of each thread, from a server that numbers them. */
  readonly #seen = new Map<string, number>();

  constructor(dialer: Dialer, introduction: protocol.InitializeParams, timeoutMs: number, events: LinkEvents) {
    this.#dialer = dialer;
    // Events are numbered to be resumed after a connection that is made again.
    const quipu = dialer.reconnect && { quipu: { events: true } };
    this.#introduction = { ...introduction, capabilities: { ...introduction.capabilities, ...quipu } };
    this.#timeoutMs = timeoutMs;
    this.#events = events;
  }

  /** Whether requests can be sent. */
  get connected(): boolean {
    return this.#usable !== undefined;
  }

  /** The last words of the server's process. */
  get stderr(): string {
    return this.#peer?.stderr ?? this.#stderr;
  }

  /** Reaches the server and shakes hands with it. */
  connect(signal: AbortSignal | undefined): Promise<void> {
    if (this.#peer) return Promise.resolve();
    if (this.#life.signal.aborted) this.#life = new AbortController();
    const own = this.#life.signal;
    this.#connecting ??= this.#open(signal ? AbortSignal.any([own, signal]) : own).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Ends the connection and waits until nothing of it is left. */
  async disconnect(): Promise<void> {
    this.#life.abort();
    await this.#connecting?.catch(() => {});
    const peer = this.#peer;
    this.#peer = undefined;
    this.#followed.clear();
    this.#seen.clear();
    const error = new ExitedError("the client was disconnected");
    peer?.close(error);
    this.#events.gone(error);
    await this.#reconnecting?.catch(() => {});
    await peer?.transport.close();
    if (peer) this.#events.emit("close");
  }

  /**
   * Sends a request, again if the server is overloaded, and later if the connection is being made again. One that the
   * server acts on once by its key is also sent again if the connection breaks before its answer.
   */
  async request(method: string, given: unknown, options: CallOptions): Promise<unknown> {
    let params = given;
    for (let attempt = 0; ; ) {
      const peer = this.#usable ?? (await this.#whenConnected(method, options.signal));
      if (KEYED.has(method) && this.server.quipu?.events) {
        params = { idempotencyKey: crypto.randomUUID(), ...(params as object) };
      }
      try {
        const result = await peer.call(method, params, options);
        this.#follow(method, params, result);
        return result;
      } catch (error) {
        if (error instanceof RefusedError && error.code === OVERLOADED && attempt < RETRIES) {
          await pause(jittered(FIRST_RETRY_MS * 2 ** attempt++), options.signal);
          continue;
        }
        const isKeyed = (params as { idempotencyKey?: string } | undefined)?.idempotencyKey !== undefined;
        const isLost = error instanceof ExitedError && this.#reconnecting !== undefined;
        if (!isKeyed || !isLost) throw error;
      }
    }
  }

  /** A thread's events do not come any more. */
  forget(threadId: string): void {
    this.#followed.delete(threadId);
    this.#seen.delete(threadId);
  }

  /** Whether a numbered event is new. */
  #isNew(params: unknown, number: EventNumber | undefined): boolean {
    const { threadId } = (params ?? {}) as { threadId?: string };
    if (number === undefined || threadId === undefined) return true;
    const isNew = number.seq > (this.#seen.get(threadId) ?? 0);
    if (isNew) this.#seen.set(threadId, number.seq);
    return isNew;
  }

  /** The connection, once the threads in use are resumed. */
  get #usable(): Peer | undefined {
    return this.#reconnecting ? undefined : this.#peer;
  }

  async #whenConnected(method: string, signal: AbortSignal | undefined): Promise<Peer> {
    if (this.#reconnecting) await unless(signal, this.#reconnecting);
    if (this.#usable) return this.#usable;
    throw new ExitedError(`cannot send \`${method}\`: the client is not connected`, {}, { stderr: this.#stderr });
  }

  /** Keeps account of the threads whose events come to this connection. */
  #follow(method: string, params: unknown, result: unknown): void {
    const { thread, quipu } = (result ?? {}) as { thread?: { id?: string }; quipu?: protocol.ThreadEvents };
    const { threadId } = (params ?? {}) as { threadId?: string };
    if (method === "thread/start" || method === "thread/resume" || method === "thread/fork") {
      if (thread?.id === undefined) return;
      this.#followed.add(thread.id);
      if (quipu) this.#seen.set(thread.id, Math.max(quipu.seq, this.#seen.get(thread.id) ?? 0));
    } else if (method === "thread/unsubscribe" || method === "thread/archive") {
      if (threadId !== undefined) this.forget(threadId);
    }
  }

  async #open(signal: AbortSignal): Promise<void> {
    const transport = await this.#dialer.open(signal);
    const peer: Peer = new Peer(transport, {
      notification: (method, params, size, number) => {
        if (this.#isNew(params, number)) this.#events.notification(method, params, size);
      },
      request: (id, method, params) => this.#events.request(peer, id, method, params),
      warning: (error) => this.#events.emit("warning", error),
      closed: (error) => this.#lost(peer, error),
    });
    try {
      await this.#shakeHands(peer, signal);
    } catch (error) {
      peer.close(error as CodexError);
      await transport.close();
      throw error;
    }
    this.#peer = peer;
  }

  async #shakeHands(peer: Peer, signal: AbortSignal): Promise<void> {
    const timeoutMs = this.#timeoutMs;
    const server = await peer.call("initialize", this.#introduction, { timeoutMs, signal });
    if (typeof server !== "object" || server === null) {
      throw new ProtocolError("the server's answer to `initialize` is not an object", { data: server });
    }
    this.server = server;
    peer.notify("initialized");
  }

  /** The connection broke, or was ended here. */
  #lost(peer: Peer, error: CodexError): void {
    this.#stderr = peer.stderr;
    this.#events.broken(error);
    if (this.#peer !== peer) return;
    this.#peer = undefined;
    quiet(peer.transport.close());
    if (this.#reconnecting) return;
    if (!this.#dialer.reconnect) return this.#gone(error);
    const reconnected = this.#reconnect(error, this.#dialer.reconnect);
    this.#reconnecting = quiet(reconnected.finally(() => (this.#reconnecting = undefined)));
    this.#reconnecting.then(() => this.#events.emit("reconnected"), () => {});
  }

  #gone(error: CodexError): void {
    this.#events.gone(error);
    this.#events.emit("error", error);
    this.#events.emit("close", error);
  }

  async #reconnect(error: CodexError, options: ReconnectOptions): Promise<void> {
    const { attempts = 10, firstDelayMs = 250, longestDelayMs = 10_000 } = options;
    const { signal } = this.#life;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const delayMs = jittered(Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs));
      this.#events.emit("reconnecting", { attempt, delayMs });
      await pause(delayMs, signal);
      // An attempt that fails is followed by the next; the error that counts is the one that broke the connection.
      await this.#open(signal).then(() => this.#resumeFollowed(), () => {});
      if (this.#peer) return;
    }
    this.#gone(error);
    throw error;
  }

  /** Gets the events of the threads in use again, and learns what was missed. */
  async #resumeFollowed(): Promise<void> {
    const [peer, timeoutMs] = [this.#peer, this.#timeoutMs];
    for (const threadId of this.#followed) {
      try {
        const after = this.#seen.get(threadId);
        const params = after === undefined ? { threadId } : { threadId, quipu: { after } };
        const answer = (await peer?.call("thread/resume", params, { timeoutMs })) as protocol.ThreadResumeResponse;
        // What was missed comes as events, unless the server has them no more.
        const { replay = "reset", seq = 0 } = answer.quipu ?? {};
        if (replay === "reset") {
          if (answer.quipu) this.#seen.set(threadId, seq);
          this.#events.resumed(answer.thread as Thread);
        }
      } catch (error) {
        this.#events.emit("warning", error as CodexError);
      }
    }
  }
}

/** Between half of a pause and all of it, so that many clients do not come back at once. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}

/** The client without a way to reach a server: connections, calls, events, questions and turns. */

import { approvalPolicy, over, reviewTarget, sandboxMode, sandboxPolicy } from "./convert.ts";
import { AbortedError, type CodexError, ExitedError, ProtocolError, RefusedError } from "./errors.ts";
import { type ClientEvents, named, type Notification } from "./events.ts";
import { FEED_LIMITS, type FeedLimits } from "./feed.ts";
import { Methods } from "./generated/methods.ts";
import type * as protocol from "./generated/protocol.ts";
import { answer, type Handlers, type Tool } from "./handlers.ts";
import { pause, Peer, quiet, text } from "./rpc.ts";
import { type StartedTurn, TurnStream, TurnWatch } from "./turns.ts";
import {
  type ApprovalPolicy,
  type CallOptions,
  type CompletedReview,
  type CompletedTurn,
  type ExecCommandParams,
  type ExecCommandResult,
  isItem,
  type ListModelsParams,
  type ListThreadsParams,
  type ModelListResult,
  type ResumeThreadParams,
  type ReviewResult,
  type Sandbox,
  type StartReviewParams,
  type StartThreadParams,
  type StartTurnParams,
  type SteerTurnParams,
  type Thread,
  type ThreadListResult,
  type Transport,
  type Turn,
} from "./types.ts";

/** The options of every client. */
export interface BaseOptions {
  /** The name of the program that uses this client; servers give it to model providers. Default: `openclaw`. */
  clientName?: string;
  /** The version of that program. Default: `0.1.0`. */
  clientVersion?: string;
  /** The model of new threads. Default: `gpt-5.3-codex`; `null` leaves it to the server. */
  model?: string | null;
  /** The working directory of new threads. Default: `process.cwd()`, or the server's own for a websocket. */
  cwd?: string;
  /** When the agent asks before it acts. Default: `never`; `null` leaves it to the server. */
  approvalPolicy?: ApprovalPolicy | null;
  /** What commands may do. Default: `workspaceWrite`; `null` leaves it to the server. */
  sandbox?: Sandbox | (string & {}) | null;
  /** Whether to use what the protocol marks as experimental, such as tools of the client. Default: `true`. */
  experimentalApi?: boolean;
  /** Notifications that the server need not send, by method. */
  optOut?: string[];
  /** Answers to the questions of the server. Default: everything is declined. */
  handlers?: Handlers;
  /** Tools that the model can call in new threads. */
  tools?: readonly Tool[];
  /** Milliseconds that a request may take. Default: 30 seconds. */
  timeoutMs?: number;
  /** Milliseconds that a turn may take. Default: 5 minutes. */
  turnTimeoutMs?: number;
  /** How much each stream may hold that is not read. Beyond it the oldest events are dropped. */
  feedLimits?: Partial<FeedLimits>;
  /** A transport in place of a child process or a websocket: for tests, or for other ways to reach a server. */
  transport?: Transport | (() => Transport | Promise<Transport>);
}

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
  open(signal?: AbortSignal): Transport | Promise<Transport>;
  /** Absent if a connection that broke is gone for good. */
  reconnect?: ReconnectOptions;
}

const TIMEOUT_MS = 30_000;
const TURN_TIMEOUT_MS = 5 * 60_000;
/** How much longer an answer may take than the command that it is about. */
const EXEC_GRACE_MS = 10_000;

/** The server is overloaded and did not take the request in, so it can be sent again. */
const OVERLOADED = -32001;
const RETRIES = 5;
const FIRST_RETRY_MS = 100;

/** What every client can do, however it reaches its server. */
export abstract class BaseClient extends Methods {
  /** What the server said of itself; older ones say only `userAgent`. */
  server: Partial<protocol.InitializeResponse> = {};
  readonly #options: BaseOptions;
  readonly #dialer: Dialer;
  readonly #feedLimits: FeedLimits;
  #peer: Peer | undefined;
  #connecting: Promise<void> | undefined;
  #reconnecting: Promise<void> | undefined;
  /** Aborted by `disconnect`. */
  #life = new AbortController();
  #stderr = "";
  /** Threads whose events this client gets. */
  readonly #followed = new Set<string>();
  readonly #watches = new Set<TurnWatch>();
  readonly #watchOf = new WeakMap<Turn, TurnWatch>();
  /** Questions of the server that wait for an answer. */
  readonly #questions = new Map<number | string, AbortController>();

  protected constructor(options: BaseOptions, dialer: Dialer) {
    super();
    this.#options = options;
    const { transport } = options;
    this.#dialer = transport ? { open: () => (typeof transport === "function" ? transport() : transport) } : dialer;
    this.#feedLimits = { ...FEED_LIMITS, ...options.feedLimits };
  }

  /** Whether requests can be sent. */
  get connected(): boolean {
    return this.#peer !== undefined && this.#reconnecting === undefined;
  }

  /** Reaches the server and shakes hands with it. */
  connect(options: Pick<CallOptions, "signal"> = {}): Promise<void> {
    if (this.#peer) return Promise.resolve();
    this.#life = this.#life.signal.aborted ? new AbortController() : this.#life;
    this.#connecting ??= this.#open(any(this.#life.signal, options.signal)).finally(() => {
      this.#connecting = undefined;
    });
    return quiet(this.#connecting);
  }

  /** Ends the connection. A server that was started for it is gone afterwards, with all that it started. */
  disconnect(): Promise<void> {
    return quiet(this.#disconnect());
  }

  /** `await using client = …` disconnects at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  /** Sends a request and resolves with its result. Requests that this version does not know are sent too. */
  override request<M extends keyof protocol.ClientRequests>(
    method: M,
    params: protocol.ClientRequests[M]["params"],
    options?: CallOptions,
  ): Promise<protocol.ClientRequests[M]["result"]>;
  override request(method: string, params?: unknown, options?: CallOptions): Promise<unknown>;
  override request(method: string, params?: unknown, options: CallOptions = {}): Promise<unknown> {
    return quiet(this.#request(method, params, options));
  }

  /** Starts a thread. What `params` leaves open is taken from the client's options. */
  startThread(params: StartThreadParams = {}, options?: CallOptions): Promise<Thread> {
    const { model = "gpt-5.3-codex", tools = [] } = this.#options;
    const dynamicTools = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const defaults = {
      ...(model !== null && { model }),
      ...(this.cwd !== undefined && { cwd: this.cwd }),
      ...(dynamicTools.length > 0 && { dynamicTools }),
    };
    const merged = this.#permissions(over<StartThreadParams>(defaults as StartThreadParams, params));
    return quiet(this.threadStart(merged as protocol.ThreadStartParams, options).then(({ thread }) => thread));
  }

  /** Loads a stored thread, or joins a running one. */
  resumeThread(threadId: string, params: ResumeThreadParams = {}, options?: CallOptions): Promise<Thread> {
    const merged = { ...this.#permissions(over<ResumeThreadParams>({}, params)), threadId };
    return quiet(this.threadResume(merged as protocol.ThreadResumeParams, options).then(({ thread }) => thread));
  }

  /** Copies a thread's history into a new thread. */
  forkThread(threadId: string, options?: CallOptions): Promise<Thread> {
    const merged = { ...this.#permissions({}), threadId };
    return quiet(this.threadFork(merged as protocol.ThreadForkParams, options).then(({ thread }) => thread));
  }

  /** Reads a stored thread without loading it. */
  readThread(threadId: string, includeTurns = false, options?: CallOptions): Promise<Thread> {
    return quiet(this.threadRead({ threadId, includeTurns }, options).then(({ thread }) => thread));
  }

  /** Lists stored threads, a page at a time. */
  listThreads(params: ListThreadsParams = {}, options?: CallOptions): Promise<ThreadListResult> {
    return this.threadList(params, options);
  }

  /** All stored threads, whatever the number of pages. */
  async *threads(params: ListThreadsParams = {}, options?: CallOptions): AsyncGenerator<Thread, void, undefined> {
    let cursor = params.cursor ?? null;
    do {
      const page: ThreadListResult = await this.listThreads({ ...params, cursor }, options);
      yield* page.data;
      cursor = page.nextCursor ?? null;
    } while (cursor !== null);
  }

  /** Moves a thread out of the ordinary lists. */
  archiveThread(threadId: string, options?: CallOptions): Promise<void> {
    return quiet(this.threadArchive({ threadId }, options).then(() => {}));
  }

  /** Summarises a thread's history to free context; resolves when that has begun. */
  compactThread(threadId: string, options?: CallOptions): Promise<void> {
    return quiet(this.threadCompactStart({ threadId }, options).then(() => {}));
  }

  /** Begins a turn; resolves when the server has accepted it. `stream` and events say what it does. */
  startTurn(params: StartTurnParams, options: CallOptions = {}): Promise<Turn> {
    const watch = this.#watch(this.#startTurn(params, options), true);
    const { signal } = options;
    const abort = () => watch.stop(new AbortedError(signal?.reason));
    signal?.addEventListener("abort", abort);
    const started = watch.started.finally(() => signal?.removeEventListener("abort", abort));
    return quiet(started.then((turn) => (this.#watchOf.set(turn, watch), turn)));
  }

  /** Adds input to the running turn; resolves with its id. */
  steerTurn(params: SteerTurnParams, options?: CallOptions): Promise<string> {
    return quiet(this.turnSteer(params, options).then(({ turnId }) => turnId));
  }

  /** Ends the running turn early. */
  interruptTurn(threadId: string, turnId: string, options?: CallOptions): Promise<void> {
    return quiet(this.turnInterrupt({ threadId, turnId }, options).then(() => {}));
  }

  /** Begins a review; resolves when the server has accepted it. */
  startReview(params: StartReviewParams, options?: CallOptions): Promise<ReviewResult> {
    return this.reviewStart({ ...params, target: reviewTarget(params.target) }, options);
  }

  /** Lists the models that can be chosen. */
  listModels(params: ListModelsParams = {}, options?: CallOptions): Promise<ModelListResult> {
    return this.modelList(params, options);
  }

  /** Runs a command outside any thread, in the sandbox. */
  execCommand(params: ExecCommandParams, options?: CallOptions): Promise<ExecCommandResult> {
    return this.commandExec(params as protocol.CommandExecParams, options);
  }

  /**
   * Runs a turn to its end. Rejects with `TurnFailedError` if it failed, with `TimeoutError` after 5 minutes
   * (`turnTimeoutMs`), and when aborted; in the last two cases the turn is interrupted.
   */
  runTurn(params: StartTurnParams, options: CallOptions = {}): Promise<CompletedTurn> {
    const aborted = this.#aborted<CompletedTurn>(options);
    if (aborted) return aborted;
    const watch = this.#watch(this.#startTurn(params, {}), false);
    watch.limit(this.#turnLimit(options));
    return watch.done;
  }

  /** Runs a review to its end. Limits and failures are as for `runTurn`. */
  runReview(params: StartReviewParams, options: CallOptions = {}): Promise<CompletedReview> {
    const aborted = this.#aborted<CompletedReview>(options);
    if (aborted) return aborted;
    const started = this.startReview(params).then(({ turn, reviewThreadId }) => ({ turn, threadId: reviewThreadId }));
    const watch = this.#watch(started, false);
    watch.limit(this.#turnLimit(options));
    const done = watch.done.then(({ turn, items }) => {
      const last = items.findLast((item) => isItem(item, "exitedReviewMode"));
      return { turn, reviewText: last && isItem(last, "exitedReviewMode") ? last.review : "" };
    });
    return quiet(done);
  }

  /**
   * The events of a turn: of one that `startTurn` gave, or of a new one that is started with these params. A new
   * one belongs to the stream: it has the time limit of `runTurn`, and leaving the loop early interrupts it. An
   * abort interrupts the turn in any case.
   */
  stream(turn: Turn | StartTurnParams, options: CallOptions & { threadId?: string } = {}): TurnStream {
    if ("input" in turn) {
      const start = this.#aborted<StartedTurn>(options) ?? this.#startTurn(turn, {});
      const watch = this.#watch(start, false);
      const stream = new TurnStream(watch, true);
      watch.limit(this.#turnLimit(options));
      return stream;
    }
    const known = this.#watchOf.get(turn);
    const watch = known ?? this.#watch(Promise.resolve({ threadId: options.threadId ?? "", turn }), false);
    this.#watchOf.set(turn, watch);
    const stream = new TurnStream(watch, false);
    if (!watch.isSettled) watch.limit(options);
    if (!known && turn.status !== "inProgress") watch.started.then(() => watch.catchUp({ id: "", turns: [turn] }));
    return stream;
  }

  /** The default working directory of new threads. */
  protected get cwd(): string | undefined {
    return this.#options.cwd;
  }

  #startTurn(params: StartTurnParams, options: CallOptions): Promise<StartedTurn> {
    const { threadId, approvalPolicy: policy, sandboxPolicy: sandbox, ...rest } = params;
    const wire = {
      ...rest,
      threadId,
      ...(policy !== undefined && { approvalPolicy: policy === null ? null : approvalPolicy(policy) }),
      ...(sandbox !== undefined && { sandboxPolicy: sandbox === null ? null : sandboxPolicy(sandbox) }),
    };
    const { timeoutMs } = options;
    const started = this.turnStart(wire as protocol.TurnStartParams, timeoutMs === undefined ? {} : { timeoutMs });
    return quiet(started.then(({ turn }) => ({ threadId, turn })));
  }

  #watch(start: Promise<StartedTurn>, record: boolean): TurnWatch {
    const client = this;
    const host = {
      feedLimits: this.#feedLimits,
      get stderr() {
        return client.#stderr;
      },
      interruptTurn: (threadId: string, turnId: string) => this.interruptTurn(threadId, turnId),
      steerTurn: (params: SteerTurnParams) => this.steerTurn(params),
    };
    const watch = new TurnWatch(host, start, record);
    this.#watches.add(watch);
    quiet(watch.done.finally(() => this.#watches.delete(watch)));
    return watch;
  }

  #aborted<T>({ signal }: CallOptions): Promise<T> | undefined {
    return signal?.aborted ? quiet(Promise.reject(new AbortedError(signal.reason))) : undefined;
  }

  #turnLimit(options: CallOptions): CallOptions {
    return { timeoutMs: this.#options.turnTimeoutMs ?? TURN_TIMEOUT_MS, ...options };
  }

  /** Policies in the words of servers, the client's where none is given. */
  #permissions<P extends { approvalPolicy?: unknown; sandbox?: unknown }>(params: P): P {
    const { approvalPolicy: policy = "never", sandbox: mode = "workspaceWrite" } = this.#options;
    const wanted = over<{ approvalPolicy?: unknown; sandbox?: unknown }>(
      { ...(policy !== null && { approvalPolicy: policy }), ...(mode !== null && { sandbox: mode }) },
      params,
    );
    if (typeof wanted.approvalPolicy === "string") wanted.approvalPolicy = approvalPolicy(wanted.approvalPolicy);
    if (typeof wanted.sandbox === "string") wanted.sandbox = sandboxMode(wanted.sandbox);
    return wanted as P;
  }

  async #request(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    const limited = { timeoutMs: this.#limitOf(method, params), ...options };
    for (let attempt = 0; ; attempt++) {
      const peer = this.#usable ?? (await this.#whenConnected(method, options.signal));
      try {
        const result = await peer.call(method, params, limited);
        this.#follow(method, params, result);
        return result;
      } catch (error) {
        const isOverloaded = error instanceof RefusedError && error.code === OVERLOADED;
        if (!isOverloaded || attempt >= RETRIES) throw error;
      }
      await pause(FIRST_RETRY_MS * 2 ** attempt * (0.5 + Math.random() / 2), options.signal);
    }
  }

  #limitOf(method: string, params: unknown): number {
    const { timeoutMs = TIMEOUT_MS, turnTimeoutMs = TURN_TIMEOUT_MS } = this.#options;
    if (method === "turn/start" || method === "review/start") return turnTimeoutMs;
    if (method !== "command/exec") return timeoutMs;
    const exec = params as protocol.CommandExecParams;
    if (exec.disableTimeout) return Infinity;
    return Math.max(timeoutMs, (exec.timeoutMs ?? 0) + EXEC_GRACE_MS);
  }

  /** The connection, once the threads in use are resumed. */
  get #usable(): Peer | undefined {
    return this.#reconnecting ? undefined : this.#peer;
  }

  async #whenConnected(method: string, signal: AbortSignal | undefined): Promise<Peer> {
    const waiting = this.#reconnecting;
    if (waiting) {
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(new AbortedError(signal.reason)), { once: true });
      });
      await Promise.race([waiting, aborted]);
    }
    if (this.#usable) return this.#usable;
    throw new ExitedError(`cannot send \`${method}\`: the client is not connected`, {}, { stderr: this.#stderr });
  }

  /** Keeps account of the threads whose events come to this connection. */
  #follow(method: string, params: unknown, result: unknown): void {
    const { thread } = (result ?? {}) as { thread?: { id?: string } };
    const { threadId } = (params ?? {}) as { threadId?: string };
    if (method === "thread/start" || method === "thread/resume" || method === "thread/fork") {
      if (thread?.id !== undefined) this.#followed.add(thread.id);
    } else if (method === "thread/unsubscribe" || method === "thread/archive") {
      if (threadId !== undefined) this.#followed.delete(threadId);
    }
  }

  async #open(signal: AbortSignal): Promise<void> {
    const transport = await this.#dialer.open(signal);
    const peer: Peer = new Peer(transport, {
      notification: (method, params, size) => this.#notified({ method, params } as Notification, size),
      request: (id, method, params) => this.#asked(peer, id, method, params),
      warning: (error) => this.#tell("warning", error),
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
    const { clientName = "openclaw", clientVersion = "0.1.0", experimentalApi = true, optOut } = this.#options;
    const params: protocol.InitializeParams = {
      clientInfo: { name: clientName, title: null, version: clientVersion },
      capabilities: { experimentalApi, ...(optOut && { optOutNotificationMethods: optOut }) },
    };
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const server = await peer.call("initialize", params, { timeoutMs, signal });
    if (typeof server !== "object" || server === null) {
      throw new ProtocolError("the server's answer to `initialize` is not an object", { data: server });
    }
    this.server = server;
    peer.notify("initialized");
  }

  async #disconnect(): Promise<void> {
    this.#life.abort();
    await this.#connecting?.catch(() => {});
    const peer = this.#peer;
    this.#peer = undefined;
    this.#followed.clear();
    const error = new ExitedError("the client was disconnected");
    peer?.close(error);
    this.#abandon(error);
    await this.#reconnecting?.catch(() => {});
    await peer?.transport.close();
    if (peer) this.#tell("close");
  }

  /** The connection is gone, and nobody here asked for it. */
  #lost(peer: Peer, error: CodexError): void {
    this.#stderr = peer.stderr;
    for (const question of this.#questions.values()) question.abort(error);
    this.#questions.clear();
    if (this.#peer !== peer) return;
    this.#peer = undefined;
    quiet(peer.transport.close());
    if (this.#reconnecting) return;
    if (!this.#dialer.reconnect) return this.#gone(error);
    const reconnected = this.#reconnect(error, this.#dialer.reconnect);
    this.#reconnecting = quiet(reconnected.finally(() => (this.#reconnecting = undefined)));
    this.#reconnecting.then(() => this.#tell("reconnected"), () => {});
  }

  #gone(error: CodexError): void {
    this.#abandon(error);
    if (this.listenerCount("error") > 0) this.#tell("error", error);
    this.#tell("close", error);
  }

  #abandon(error: CodexError): void {
    for (const watch of [...this.#watches]) watch.settle(error);
  }

  async #reconnect(error: CodexError, options: ReconnectOptions): Promise<void> {
    const { attempts = 10, firstDelayMs = 250, longestDelayMs = 10_000 } = options;
    const { signal } = this.#life;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const delayMs = Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs);
      this.#tell("reconnecting", { attempt, delayMs });
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
    const peer = this.#peer;
    for (const threadId of this.#followed) {
      try {
        const timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS;
        const { thread } = (await peer?.call("thread/resume", { threadId }, { timeoutMs })) as { thread: Thread };
        for (const watch of [...this.#watches]) watch.catchUp(thread);
      } catch (error) {
        this.#tell("warning", error as CodexError);
      }
    }
  }

  #notified(notification: Notification, size: number): void {
    const { method, params } = notification;
    for (const watch of this.#watches) watch.hear(notification, size);
    if (method === "serverRequest/resolved") this.#resolved(params.requestId);
    if (method === "thread/closed") this.#followed.delete(params.threadId);
    if (this.listenerCount("notification") > 0) this.#tell("notification", notification);
    const event = method === "error" ? "turn/error" : method;
    if (this.listenerCount(event) > 0) this.#tell(event, params as never);
    try {
      named(notification, (event, ...args) => this.#tell(event, ...(args as never)));
    } catch (cause) {
      this.#tell("warning", new ProtocolError(`\`${method}\` is not as expected: ${text(cause)}`, { cause }));
    }
  }

  #asked(peer: Peer, id: number | string, method: string, params: unknown): void {
    const question = new AbortController();
    this.#questions.set(id, question);
    const { handlers = {}, tools = [] } = this.#options;
    const answering = answer(handlers, tools, method, params, { signal: question.signal });
    void answering.then(({ reply, problem }) => {
      if (this.#questions.get(id) === question) {
        this.#questions.delete(id);
        peer.respond(id, reply);
      }
      if (problem !== undefined) {
        const cause = problem;
        const message = `the handler of \`${method}\` failed, and the default was answered: ${text(cause)}`;
        this.#tell("warning", new ProtocolError(message, { cause }));
      }
    });
  }

  /** Someone answered, or nobody needs to any more. */
  #resolved(id: number | string): void {
    this.#questions.get(id)?.abort(new ExitedError("the question is settled"));
    this.#questions.delete(id);
  }

  /** Emits an event. What a listener throws is an uncaught error of the program, not of the connection. */
  #tell<E extends keyof ClientEvents>(event: E, ...args: ClientEvents[E]): void {
    try {
      this.emit(event, ...args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** A signal that is aborted when any of these is. */
function any(own: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([own, other]) : own;
}

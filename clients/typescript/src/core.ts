/** The client without a way to reach a server: its calls, events, questions and turns. */

import { approvalPolicy, over, reviewTarget, sandboxMode, sandboxPolicy } from "./convert.ts";
import { AbortedError, ProtocolError } from "./errors.ts";
import { type ClientEvents, isOwnEvent, named, type Notification } from "./events.ts";
import { FEED_LIMITS, type FeedLimits } from "./feed.ts";
import { Methods } from "./generated/methods.ts";
import type * as protocol from "./generated/protocol.ts";
import type { Handlers, Tool } from "./handlers.ts";
import { type Dialer, Link } from "./link.ts";
import { Questions } from "./questions.ts";
import { quiet, text } from "./rpc.ts";
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

const TIMEOUT_MS = 30_000;
const TURN_TIMEOUT_MS = 5 * 60_000;
/** How much longer an answer may take than the command that it is about. */
const EXEC_GRACE_MS = 10_000;

/** What every client can do, however it reaches its server. */
export abstract class BaseClient extends Methods {
  readonly #options: BaseOptions;
  readonly #link: Link;
  readonly #questions: Questions;
  readonly #feedLimits: FeedLimits;
  readonly #watches = new Set<TurnWatch>();
  readonly #watchOf = new WeakMap<Turn, TurnWatch>();

  protected constructor(options: BaseOptions, dialer: Dialer) {
    super();
    this.#options = options;
    this.#feedLimits = { ...FEED_LIMITS, ...options.feedLimits };
    const { transport, handlers = {}, tools = [], timeoutMs = TIMEOUT_MS } = options;
    const injected = transport && { open: () => (typeof transport === "function" ? transport() : transport) };
    this.#questions = new Questions(handlers, tools, (error) => this.#emit("warning", error));
    this.#link = new Link(injected ?? dialer, introduction(options), timeoutMs, {
      notification: (method, params, size) => this.#notified({ method, params } as Notification, size),
      request: (peer, id, method, params) => this.#questions.ask(peer, id, method, params),
      broken: (error) => this.#questions.abandon(error),
      resumed: (thread) => [...this.#watches].forEach((watch) => watch.catchUp(thread)),
      gone: (error) => [...this.#watches].forEach((watch) => watch.settle(error)),
      emit: (event, ...args) => this.#emit(event, ...(args as never)),
    });
  }

  /** What the server said of itself; older ones say only `userAgent`. */
  get server(): Partial<protocol.InitializeResponse> {
    return this.#link.server;
  }

  /** Whether requests can be sent. */
  get connected(): boolean {
    return this.#link.connected;
  }

  /** Reaches the server and shakes hands with it. */
  connect(options: Pick<CallOptions, "signal"> = {}): Promise<void> {
    return quiet(this.#link.connect(options.signal));
  }

  /** Ends the connection. A server that was started for it is gone afterwards, with all that it started. */
  disconnect(): Promise<void> {
    return quiet(this.#link.disconnect());
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
    return quiet(this.#link.request(method, params, { timeoutMs: this.#limitOf(method, params), ...options }));
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
    const link = this.#link;
    const host = {
      feedLimits: this.#feedLimits,
      get stderr() {
        return link.stderr;
      },
      interruptTurn: this.interruptTurn.bind(this),
      steerTurn: this.steerTurn.bind(this),
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

  #limitOf(method: string, params: unknown): number {
    const { timeoutMs = TIMEOUT_MS, turnTimeoutMs = TURN_TIMEOUT_MS } = this.#options;
    if (method === "turn/start" || method === "review/start") return turnTimeoutMs;
    if (method !== "command/exec") return timeoutMs;
    const exec = params as protocol.CommandExecParams;
    if (exec.disableTimeout) return Infinity;
    return Math.max(timeoutMs, (exec.timeoutMs ?? 0) + EXEC_GRACE_MS);
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

  #notified(notification: Notification, size: number): void {
    const { method, params } = notification;
    if (this.listenerCount("notification") > 0) this.#emit("notification", notification);
    const event = method === "error" ? "turn/error" : method;
    if (!isOwnEvent(event) && this.listenerCount(event) > 0) this.#emit(event, params as never);
    try {
      for (const watch of this.#watches) watch.hear(notification, size);
      if (method === "serverRequest/resolved") this.#questions.resolve(params.requestId);
      if (method === "thread/closed") this.#link.forget(params.threadId);
      named(notification, (event, ...args) => this.#emit(event, ...(args as never)));
    } catch (cause) {
      this.#emit("warning", new ProtocolError(`\`${method}\` is not as expected: ${text(cause)}`, { cause }));
    }
  }

  /**
   * Emits an event. What a listener throws is an uncaught error of the program, not of the connection; an `error`
   * that nobody listens to is none.
   */
  #emit<E extends keyof ClientEvents>(event: E, ...args: ClientEvents[E]): void {
    if (event === "error" && this.listenerCount("error") === 0) return;
    try {
      this.emit(event, ...args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/** How a client introduces itself. */
function introduction(options: BaseOptions): protocol.InitializeParams {
  const { clientName = "openclaw", clientVersion = "0.1.0", experimentalApi = true, optOut } = options;
  return {
    clientInfo: { name: clientName, title: null, version: clientVersion },
    capabilities: { experimentalApi, ...(optOut && { optOutNotificationMethods: optOut }) },
  };
}

/** The page's connection to its server, and everything that it learned over it. */

import { type AnyNotification, CodexClient, type protocol, RefusedError, type Thread } from "@quipu/client/websocket";

import { notice } from "./notices.ts";
import { Questions } from "./questions.ts";
import { store, stored } from "./storage.ts";
import { ThreadState } from "./thread.ts";
import { socketUrl } from "./token.ts";
import { Topic } from "./topic.ts";

/** How many threads are followed at once; of others only the status is known. */
const FOLLOWED = 12;
/** How many loaded threads are asked whether they wait for somebody. */
const LOOKED_AT = 50;

/** The state of the connection. */
export type Connection = "connecting" | "connected" | "reconnecting" | "lost";

/** Notifications that the page has no use for. */
const OPT_OUT = ["rawResponseItem/completed", "item/fileChange/outputDelta", "app/list/updated"];

/** One connection, shared by all views. */
export class Session {
  readonly client: CodexClient;
  readonly questions: Questions = new Questions(() => this.questionsChanged.emit());
  connection: Connection = "connecting";
  /** Why the connection is not there. */
  problem = "";
  /** Threads whose events come here, the latest used last. */
  readonly followed = new Map<string, ThreadState>();

  /** The thread that is looked at. */
  current = "";

  readonly connectionChanged: Topic = new Topic();
  readonly questionsChanged: Topic = new Topic();
  /** Something in the list of threads changed. */
  readonly listChanged: Topic = new Topic();
  readonly structureChanged: Topic<[threadId: string]> = new Topic();
  readonly touched: Topic<[threadId: string, key: string]> = new Topic();
  readonly notified: Topic<[AnyNotification]> = new Topic();
  /** What the server said to the user, each sentence once. */
  readonly notices: string[] = [];
  readonly noticed: Topic<[text: string]> = new Topic();
  /** A thread's status became another. */
  readonly statusChanged: Topic<[threadId: string, status: protocol.ThreadStatus]> = new Topic();

  constructor(token: string | undefined) {
    // A tool of another client is for that client to run, so its call is left open here.
    const leaveOpen = () => new Promise<never>(() => {});
    this.client = new CodexClient({
      url: socketUrl(),
      ...(token !== undefined && token !== "" && { token }),
      clientName: "quipu-console",
      model: null,
      approvalPolicy: null,
      sandbox: null,
      optOut: OPT_OUT,
      reconnect: { attempts: Infinity, longestDelayMs: 5000 },
      handlers: { ...this.questions.handlers, callTool: leaveOpen, answerUnknown: leaveOpen },
    });
    this.client.on("notification", (notification) => this.#take(notification));
    this.client.on("reconnecting", () => this.#connection("reconnecting", "The connection is lost; trying again."));
    this.client.on("reconnected", () => void this.#back());
    this.client.on("close", (error) => this.#connection("lost", error?.message ?? ""));
  }

  /** Connects for the first time. */
  async connect(): Promise<void> {
    await this.client.connect();
    this.#connection("connected", "");
    void this.#findQuestions();
  }

  /** Follows a thread: loads it and gets its events from now on. */
  async follow(threadId: string): Promise<ThreadState> {
    const known = this.followed.get(threadId);
    if (known) {
      this.followed.delete(threadId);
      this.followed.set(threadId, known);
      return known;
    }
    const answer = await this.client.threadResume({ threadId });
    return this.adopt(answer.thread as Thread, answer);
  }

  /** What is stored of a thread that cannot be followed, because another program has it, say. */
  async peek(threadId: string, error: unknown): Promise<ThreadState> {
    if (!(error instanceof RefusedError)) throw error;
    const { thread } = await this.client.threadRead({ threadId, includeTurns: true }).catch(() => {
      throw error;
    });
    const state = new ThreadState(thread as Thread, { structure: () => {}, touched: () => {} });
    state.load(thread as Thread);
    return state;
  }

  /** Begins to follow a thread that an answer of the server has. */
  adopt(thread: Thread, settings: Omit<protocol.ThreadResumeResponse, "thread">): ThreadState {
    const state = this.followed.get(thread.id) ?? this.#make(thread);
    state.settings = {
      model: settings.model,
      effort: settings.reasoningEffort,
      approvalPolicy: settings.approvalPolicy,
      sandbox: settings.sandbox,
      cwd: settings.cwd,
    };
    state.load(thread);
    return state;
  }

  /** Loads a thread again, after something changed its past. */
  async reload(threadId: string): Promise<void> {
    const answer = await this.client.threadResume({ threadId });
    this.adopt(answer.thread as Thread, answer);
  }

  #make(thread: Thread): ThreadState {
    const { id } = thread;
    const state = new ThreadState(thread, {
      structure: () => this.structureChanged.emit(id),
      touched: (key) => this.touched.emit(id, key),
    });
    state.restoreUsage(stored(`usage.${id}`, {}));
    this.followed.set(id, state);
    this.#forgetOldest();
    return state;
  }

  /** Threads that nobody looks at and that do nothing are left alone again. */
  #forgetOldest(): void {
    for (const [id, state] of this.followed) {
      if (this.followed.size <= FOLLOWED) return;
      if (id === this.current || state.running || this.questions.of(id).length > 0) continue;
      this.followed.delete(id);
      this.client.threadUnsubscribe({ threadId: id }).catch(() => {});
    }
  }

  #take(notification: AnyNotification): void {
    const { method } = notification;
    const params = (notification.params ?? {}) as Record<string, unknown>;
    const threadId = typeof params["threadId"] === "string" ? params["threadId"] : "";
    const state = this.followed.get(threadId);
    state?.notified(method, params);
    if (state && method === "turn/completed") store(`usage.${threadId}`, state.keptUsage());
    if (method === "thread/closed" || method === "thread/archived") this.followed.delete(threadId);
    if (method === "thread/status/changed") this.#status(threadId, params["status"] as protocol.ThreadStatus);
    if (/^thread\/(started|archived|unarchived|name\/updated|closed)$/.test(method)) this.listChanged.emit();
    this.notified.emit(notification);
    const text = notice(notification);
    if (text === undefined || this.notices.includes(text)) return;
    this.notices.push(text);
    this.noticed.emit(text);
  }

  #status(threadId: string, status: protocol.ThreadStatus): void {
    const state = this.followed.get(threadId);
    if (state) state.info.status = status;
    if (status.type === "notLoaded") this.followed.delete(threadId);
    this.statusChanged.emit(threadId, status);
    if (isWaiting(status) && !state) this.#join(threadId);
  }

  /** A thread that waits for somebody is followed, so that its question comes here too. */
  #join(threadId: string): void {
    this.follow(threadId).catch((error: unknown) => {
      if (!(error instanceof RefusedError)) this.problem = String(error);
    });
  }

  /** Questions that were asked before this page was there. */
  async #findQuestions(): Promise<void> {
    const { data } = await this.client.threadLoadedList({});
    for (const threadId of data.slice(0, LOOKED_AT)) {
      if (this.followed.has(threadId)) continue;
      const { thread } = await this.client.threadRead({ threadId, includeTurns: false });
      if (isWaiting(thread.status)) this.#join(threadId);
    }
  }

  /** The connection is there again: what was missed is loaded. */
  async #back(): Promise<void> {
    for (const threadId of [...this.followed.keys()]) {
      await this.reload(threadId).catch(() => this.followed.delete(threadId));
    }
    this.#connection("connected", "");
    this.listChanged.emit();
    void this.#findQuestions().catch(() => {});
  }

  #connection(connection: Connection, problem: string): void {
    this.connection = connection;
    this.problem = problem;
    this.connectionChanged.emit();
  }
}

/** Whether a thread waits for somebody. */
export function isWaiting(status: protocol.ThreadStatus | undefined): boolean {
  return status?.type === "active" && status.activeFlags.length > 0;
}

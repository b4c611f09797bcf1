/** Turns from their start to their end: who watches them, what they did, and how they are ended early. */

import { AbortedError, type CodexError, TimeoutError, TurnFailedError } from "./errors.ts";
import type { AnyNotification, Notification, TurnEvent } from "./events.ts";
import { Feed, type FeedLimits } from "./feed.ts";
import { quiet, unless } from "./rpc.ts";
import {
  type CallOptions,
  type CompletedTurn,
  isItem,
  type SteerTurnParams,
  type Thread,
  type ThreadItem,
  type Turn,
  type TurnInput,
} from "./types.ts";

/** How many items of a turn are kept for its result. */
const ITEM_LIMIT = 10_000;

/** What turns need of a client. */
export interface TurnHost {
  readonly feedLimits: FeedLimits;
  readonly stderr: string;
  interruptTurn(threadId: string, turnId: string, options?: CallOptions): Promise<void>;
  steerTurn(params: SteerTurnParams, options?: CallOptions): Promise<string>;
}

/** What a start gives: the turn, and its thread. */
export interface StartedTurn {
  threadId: string;
  turn: Turn;
}

interface Heard {
  notification: Notification;
  size: number;
}

/** One turn as this client sees it. */
export class TurnWatch {
  /** Resolves when the server has accepted the turn. */
  readonly started: Promise<Turn>;
  /** Resolves at its end; rejects if it failed, took too long, was aborted or the server is gone. */
  readonly done: Promise<CompletedTurn>;
  readonly #host: TurnHost;
  readonly #feeds = new Set<Feed<TurnEvent>>();
  /** What came before anyone asked for a stream. */
  #recorded: Feed<TurnEvent> | undefined;
  /** Who it is, once that is known. */
  #known: StartedTurn | undefined;
  /** What came before that. */
  #early: Heard[] = [];
  #items: ThreadItem[] = [];
  #missedItems = 0;
  #diff: string | undefined;
  #usage: CompletedTurn["usage"];
  #isSettled = false;
  #resolve: (done: CompletedTurn) => void = () => {};
  #reject: (error: CodexError) => void = () => {};
  #cleanUp: () => void = () => {};

  constructor(host: TurnHost, start: Promise<StartedTurn>, record: boolean) {
    this.#host = host;
    if (record) this.#recorded = this.#feed(false);
    this.done = quiet(
      new Promise((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      }),
    );
    this.started = quiet(start.then((started) => this.#begin(started)));
    this.started.catch((error: CodexError) => this.settle(error));
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get turnId(): string | undefined {
    return this.#known?.turn.id;
  }

  /** Takes a notification that may be about this turn. */
  hear(notification: Notification, size: number): void {
    if (this.#isSettled) return;
    if (this.#known) return this.#take(notification, size);
    this.#early.push({ notification, size });
    if (this.#early.length > this.#host.feedLimits.events) this.#early.shift();
  }

  /** Ends the turn if it takes too long, or when the signal says so. */
  limit({ signal, timeoutMs = Infinity }: CallOptions): void {
    const abort = () => this.stop(new AbortedError(signal?.reason));
    if (signal?.aborted) return abort();
    const late = () => this.stop(new TimeoutError("turn", timeoutMs, this.#host.stderr));
    const timer = timeoutMs < 2 ** 31 ? setTimeout(late, timeoutMs) : undefined;
    signal?.addEventListener("abort", abort);
    const before = this.#cleanUp;
    this.#cleanUp = () => {
      before();
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
  }

  /** Interrupts the turn and gives the error to everyone who waits for it. */
  stop(error: CodexError): void {
    if (this.#isSettled) return;
    this.interrupt().catch(() => {});
    this.settle(error);
  }

  /** Asks for the turn's early end, as soon as it is known. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    const { threadId, turn } = this.#known ?? (await this.#whenKnown(options));
    await this.#host.interruptTurn(threadId, turn.id, options);
  }

  /** Adds input to the turn. */
  async steer(input: TurnInput[], options: CallOptions = {}): Promise<string> {
    const { threadId, turn } = this.#known ?? (await this.#whenKnown(options));
    return this.#host.steerTurn({ threadId, input, expectedTurnId: turn.id }, options);
  }

  /** A stream of what it says; the first has everything since the start. */
  stream(isOwner: boolean): Feed<TurnEvent> {
    const feed = this.#recorded ?? this.#feed(isOwner);
    this.#recorded = undefined;
    if (this.#isSettled) quiet(this.done.then(() => feed.end(), (error: CodexError) => feed.end(ending(error))));
    return feed;
  }

  /** Learns from a resumed thread what happened while the connection was broken. */
  catchUp(thread: Thread): void {
    const turn = thread.turns?.find((it) => it.id === this.turnId);
    if (this.#isSettled || !this.#known || !turn || turn.status === "inProgress") return;
    const seen = new Set(this.#items.map((item) => item.id));
    for (const item of turn.items) if (!seen.has(item.id)) this.#keep(item);
    const { threadId } = this.#known;
    const notification = { method: "turn/completed", params: { threadId, turn } } as AnyNotification as Notification;
    this.hear(notification, 0);
  }

  /** Ends the watch; without an error the turn was seen to its end. */
  settle(error: CodexError): void {
    if (this.#isSettled) return;
    this.#finish(error);
    this.#reject(error);
  }

  #finish(error?: CodexError): void {
    this.#isSettled = true;
    this.#early = [];
    this.#cleanUp();
    for (const feed of this.#feeds) feed.end(error && ending(error));
    this.#feeds.clear();
  }

  #begin(started: StartedTurn): Turn {
    this.#known = started;
    for (const { notification, size } of this.#early.splice(0)) this.hear(notification, size);
    return started.turn;
  }

  async #whenKnown({ signal }: CallOptions): Promise<StartedTurn> {
    await unless(signal, this.started);
    return this.#known as StartedTurn;
  }

  #take(notification: Notification, size: number): void {
    if (turnOf(notification) !== this.turnId) return;
    for (const feed of this.#feeds) feed.push(notification, size);
    switch (notification.method) {
      case "item/completed":
        return this.#keep(notification.params.item);
      case "turn/diff/updated":
        this.#diff = notification.params.diff;
        return;
      case "thread/tokenUsage/updated":
        this.#usage = notification.params.tokenUsage;
        return;
      case "turn/completed":
        return this.#complete(notification.params.turn);
    }
  }

  #keep(item: ThreadItem): void {
    if (typeof item?.id !== "string") return;
    this.#items.push(item);
    if (this.#items.length > ITEM_LIMIT) {
      this.#items.shift();
      this.#missedItems += 1;
    }
  }

  #complete(turn: Turn): void {
    const message = this.#items.findLast((item) => isItem(item, "agentMessage"));
    const outcome: CompletedTurn = {
      turn,
      items: this.#items,
      missedItems: this.#missedItems,
      agentMessage: message && isItem(message, "agentMessage") ? message.text : "",
      ...(this.#diff !== undefined && { diff: this.#diff }),
      ...(this.#usage !== undefined && { usage: this.#usage }),
    };
    if (turn.status === "failed") return this.settle(new TurnFailedError(outcome, this.#host.stderr));
    this.#finish();
    this.#resolve(outcome);
  }

  #feed(isOwner: boolean): Feed<TurnEvent> {
    const lagged = (missed: number): TurnEvent => ({ method: "client/lagged", params: { missed } });
    const feed: Feed<TurnEvent> = new Feed(this.#host.feedLimits, lagged, () => {
      this.#feeds.delete(feed);
      if (isOwner && !this.#isSettled) this.stop(new AbortedError("the stream was not read to its end"));
    });
    this.#feeds.add(feed);
    return feed;
  }
}

/** A turn that failed is not an error of its stream, which says so in its last event. */
function ending(error: CodexError): CodexError | undefined {
  return error instanceof TurnFailedError ? undefined : error;
}

/** The turn that a notification is about. */
function turnOf({ params }: AnyNotification): string | undefined {
  const { turnId, turn } = (params ?? {}) as { turnId?: string; turn?: { id?: string } };
  return turnId ?? turn?.id;
}

/** The events of a turn one by one, and its result. */
export class TurnStream implements AsyncIterable<TurnEvent, undefined> {
  readonly #watch: TurnWatch;
  readonly #feed: Feed<TurnEvent>;

  constructor(watch: TurnWatch, isOwner: boolean) {
    this.#watch = watch;
    this.#feed = watch.stream(isOwner);
  }

  /** The turn, once the server has accepted it. */
  get started(): Promise<Turn> {
    return this.#watch.started;
  }

  /**
   * What the turn did, once it has ended. It is complete however slowly the events are read. Rejects with
   * `TurnFailedError` if the turn failed.
   */
  result(): Promise<CompletedTurn> {
    return this.#watch.done;
  }

  /** Adds input to the turn. */
  steer(input: TurnInput[], options?: CallOptions): Promise<string> {
    return quiet(this.#watch.steer(input, options));
  }

  /** Asks for the turn's early end, which the events and the result then show. */
  interrupt(options?: CallOptions): Promise<void> {
    return quiet(this.#watch.interrupt(options));
  }

  /** The events up to `turn/completed`, once: a second reader gets what the first has left. */
  [Symbol.asyncIterator](): AsyncIterator<TurnEvent, undefined> {
    return this.#feed;
  }
}

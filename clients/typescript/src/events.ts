/**
 * The events of a client: nine with short payloads, one for each notification of the protocol, and those
 * of the connection.
 */

import type { ErrorNotification, ServerNotifications } from "./generated/protocol.ts";
import type { PlanEntry, Thread, ThreadItem, Turn } from "./types.ts";

/** The everyday events. */
export interface NamedEvents {
  /** A turn began. */
  "turn:started": [turn: Turn];
  /** A turn ended: completed, interrupted or failed. */
  "turn:completed": [turn: Turn];
  /** An item began. */
  "item:started": [item: ThreadItem];
  /** An item ended; this is its final state. */
  "item:completed": [item: ThreadItem];
  /** More text of an agent message. */
  "item:agentMessage:delta": [delta: { itemId: string; text: string }];
  /** Output of a command of the agent. */
  "item:commandExecution:outputDelta": [delta: { itemId: string; output: string }];
  /** All file changes of the turn so far, as one diff. */
  "turn:diff:updated": [data: { threadId: string; turnId: string; diff: string }];
  /** The agent shared or changed its plan. */
  "turn:plan:updated": [data: { turnId: string; plan: PlanEntry[] }];
  /** A thread was started. */
  "thread:started": [thread: Thread];
}

/** The events of the connection. */
export interface ConnectionEvents {
  /** The server is gone and the client did not ask for it. Without a listener nothing is thrown. */
  error: [error: Error];
  /** Something was wrong and did no harm: a line that is not JSON, a handler that threw. */
  warning: [error: Error];
  /** The connection ended; the error says why, unless the client ended it. */
  close: [error?: Error];
  /** A websocket broke; the next attempt to connect is made after the delay. */
  reconnecting: [attempt: { attempt: number; delayMs: number }];
  /** A websocket is connected again and the threads in use are resumed. */
  reconnected: [];
  /** Any notification, also one that this version does not know. */
  notification: [notification: AnyNotification];
}

/**
 * An event for each notification of the protocol, with its name and params. The notification `error` is
 * the event `turn/error`, because `error` means something else to an `EventEmitter`; `warning` is the
 * client's own event, so that notification comes as a `notification`.
 */
export type WireEvents = {
  [M in Exclude<keyof ServerNotifications, "error">]: [params: ServerNotifications[M]];
} & { "turn/error": [params: ErrorNotification] };

/** All events of a client with their arguments. */
export type ClientEvents = NamedEvents & ConnectionEvents & Omit<WireEvents, keyof ConnectionEvents>;

/** A notification of the protocol, discriminated by `method`. */
export type Notification = {
  [M in keyof ServerNotifications]: { method: M; params: ServerNotifications[M] };
}[keyof ServerNotifications];

/** A notification as it came. */
export interface AnyNotification {
  /** Its name. */
  method: string;
  /** What it says. */
  params: unknown;
}

/** A stream was not read fast enough and lost its oldest events. */
export interface LaggedEvent {
  /** No notification of the protocol has this name. */
  method: "client/lagged";
  /** How many events are missing. */
  params: { missed: number };
}

/** What a stream of a turn yields. */
export type TurnEvent = Notification | LaggedEvent;

const CONNECTION_EVENTS = ["error", "warning", "close", "reconnecting", "reconnected", "notification"];

/** Whether an event is the client's own. A notification of that name is only a `notification`. */
export function isOwnEvent(name: string): boolean {
  return CONNECTION_EVENTS.includes(name) || name.includes(":");
}

/** Calls the everyday event of a notification, if it has one. */
export function named(
  { method, params }: Notification,
  emit: <E extends keyof NamedEvents>(event: E, ...args: NamedEvents[E]) => void,
): void {
  switch (method) {
    case "turn/started":
      return emit("turn:started", params.turn);
    case "turn/completed":
      return emit("turn:completed", params.turn);
    case "item/started":
      return emit("item:started", params.item);
    case "item/completed":
      return emit("item:completed", params.item);
    case "item/agentMessage/delta":
      return emit("item:agentMessage:delta", { itemId: params.itemId, text: params.delta });
    case "item/commandExecution/outputDelta":
      return emit("item:commandExecution:outputDelta", { itemId: params.itemId, output: params.delta });
    case "turn/diff/updated":
      return emit("turn:diff:updated", { threadId: params.threadId, turnId: params.turnId, diff: params.diff });
    case "turn/plan/updated":
      return emit("turn:plan:updated", { turnId: params.turnId, plan: params.plan });
    case "thread/started":
      return emit("thread:started", params.thread);
  }
}

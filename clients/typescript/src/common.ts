/** What both entry points of the package export. */

export { BaseClient, type BaseOptions } from "./core.ts";
export * from "./errors.ts";
export type {
  AnyNotification,
  ClientEvents,
  ConnectionEvents,
  LaggedEvent,
  NamedEvents,
  Notification,
  TurnEvent,
  WireEvents,
} from "./events.ts";
export type { FeedLimits } from "./feed.ts";
export type * as protocol from "./generated/protocol.ts";
export {
  type HandlerContext,
  type Handlers,
  type Tool,
  type ToolContext,
  type ToolOutput,
  tool,
} from "./handlers.ts";
export type { Dialer, ReconnectOptions } from "./link.ts";
export type { FromSchema, JsonSchema } from "./schema.ts";
export { TurnStream } from "./turns.ts";
export * from "./types.ts";

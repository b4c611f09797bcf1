/**
 * A client of Quipu and every other server of the Codex app-server protocol, for Node, Bun and Deno.
 *
 * @module client
 */

export { CodexClient, CodexClient as default, type CodexClientOptions } from "./client.ts";
export * from "./common.ts";
export { WebSocketTransport } from "./socket.ts";
export { type SpawnOptions, StdioTransport } from "./transport.ts";

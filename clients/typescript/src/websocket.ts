/**
 * The package for browsers: the same client, over a websocket only. Nothing here imports a module of Node.
 *
 * @module websocket
 */

import { BaseClient, type BaseOptions } from "./core.ts";
import type { ReconnectOptions } from "./link.ts";
import { openBrowserSocket, WebSocketTransport } from "./socket.ts";

export * from "./common.ts";
export { WebSocketTransport } from "./socket.ts";

/** The options of a client in a browser. */
export interface CodexClientOptions extends BaseOptions {
  /** The websocket of a running server: `ws://127.0.0.1:4500`. Needed unless a `transport` is given. */
  url?: string;
  /** The token of that websocket. */
  token?: string;
  /** Whether and how a broken websocket is connected again. Default: yes. */
  reconnect?: ReconnectOptions | false;
}

const CONNECT_MS = 30_000;

/** A client that connects to a server by websocket. */
export class CodexClient extends BaseClient {
  constructor(options: CodexClientOptions) {
    const { url = "", token, reconnect = {}, timeoutMs = CONNECT_MS } = options;
    const open = (signal: AbortSignal) =>
      WebSocketTransport.connect(url, openBrowserSocket, { token, timeoutMs, signal });
    super(options, reconnect === false ? { open } : { open, reconnect });
  }
}

export default CodexClient;

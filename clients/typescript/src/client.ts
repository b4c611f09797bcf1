/** The client for Node, Bun and Deno: it starts a server as a child process, or connects to a websocket. */

import { BaseClient, type BaseOptions } from "./core.ts";
import type { ReconnectOptions } from "./link.ts";
import { openSocket } from "./node-socket.ts";
import { WebSocketTransport } from "./socket.ts";
import { type SpawnOptions, StdioTransport } from "./transport.ts";

/** The options of a client. All have defaults. */
export interface CodexClientOptions extends BaseOptions, Omit<SpawnOptions, "cwd"> {
  /** The websocket of a running server, in place of a child process: `ws://127.0.0.1:4500`. */
  url?: string;
  /** The token of that websocket. */
  token?: string;
  /** Whether and how a broken websocket is connected again. Default: yes. */
  reconnect?: ReconnectOptions | false;
}

const CONNECT_MS = 30_000;

/**
 * A client that starts a server, or connects to one by websocket. It has the methods of `BaseClient`, and one for
 * each request of the protocol.
 */
export class CodexClient extends BaseClient {
  readonly #isRemote: boolean;

  constructor(options: CodexClientOptions = {}) {
    const { url, token, reconnect = {}, timeoutMs = CONNECT_MS } = options;
    if (url === undefined) {
      super(options, { open: () => StdioTransport.spawn(options) });
    } else {
      const open = (signal: AbortSignal) => WebSocketTransport.connect(url, openSocket, { token, timeoutMs, signal });
      super(options, reconnect === false ? { open } : { open, reconnect });
    }
    this.#isRemote = url !== undefined;
  }

  protected override get cwd(): string | undefined {
    return super.cwd ?? (this.#isRemote ? undefined : process.cwd());
  }
}

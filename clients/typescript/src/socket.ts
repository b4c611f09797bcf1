/** A websocket as a transport: a message is a text frame. Runs in browsers and imports nothing of Node. */

import { AbortedError, type CodexError, ExitedError, ProtocolError, TimeoutError } from "./errors.ts";
import type { JsonRpcMessage, Transport } from "./types.ts";

/** The part of a `WebSocket` that is used. */
export interface Socket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** Opens a socket; a token goes where the platform can put it. */
export type OpenSocket = (url: string, token: string | undefined) => Socket;

/** The names in `Sec-WebSocket-Protocol`, with which a browser, which cannot set headers, presents a token. */
const SUBPROTOCOL = "quipu";
const TOKEN_SUBPROTOCOL = "quipu.bearer.";

/** How long the other side may take to confirm the end. */
const CLOSE_MS = 2000;

/** Opens a socket as a browser can. */
export const openBrowserSocket: OpenSocket = (url, token) => {
  if (token === undefined) return new WebSocket(url) as Socket;
  return new WebSocket(url, [SUBPROTOCOL, TOKEN_SUBPROTOCOL + token]) as Socket;
};

/** A connected websocket. */
export class WebSocketTransport implements Transport {
  readonly #socket: Socket;
  #closing = false;
  #failure: CodexError | undefined;
  #message: (message: JsonRpcMessage, size?: number) => void = () => {};
  #close: (error: CodexError) => void = () => {};
  #warning: (error: CodexError) => void = () => {};
  #closed: () => void = () => {};

  /** @param socket one that is open */
  constructor(socket: Socket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onerror = () => {};
    socket.onclose = ({ code, reason }) => {
      const why = reason === "" ? "" : `: ${reason}`;
      this.#failure = new ExitedError(`the websocket was closed with code ${code}${why}`, { exitCode: code });
      this.#closed();
      if (!this.#closing) this.#close(this.#failure);
    };
  }

  /** Connects, within the time and unless the signal says otherwise. */
  static connect(
    url: string,
    open: OpenSocket,
    { token, timeoutMs, signal }: { token?: string | undefined; timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<WebSocketTransport> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new AbortedError(signal.reason));
      const socket = open(url, token);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const fail = (error: CodexError) => {
        settle();
        socket.onopen = socket.onclose = null;
        socket.onerror = () => {};
        socket.close();
        reject(error);
      };
      const abort = () => fail(new AbortedError(signal?.reason));
      const timer = setTimeout(() => fail(new TimeoutError(`connect to ${url}`, timeoutMs)), timeoutMs);
      signal?.addEventListener("abort", abort);
      const refused = (event: unknown) => fail(new ExitedError(`cannot connect to ${url}${said(event)}`));
      socket.onerror = refused;
      socket.onclose = refused;
      socket.onopen = () => {
        settle();
        resolve(new WebSocketTransport(socket));
      };
    });
  }

  send(message: JsonRpcMessage): void {
    if (this.#failure) throw this.#failure;
    this.#socket.send(JSON.stringify(message));
  }

  onMessage(handler: (message: JsonRpcMessage, size?: number) => void): void {
    this.#message = handler;
  }

  onClose(handler: (error: CodexError) => void): void {
    this.#close = handler;
    if (this.#failure) handler(this.#failure);
  }

  onWarning(handler: (error: CodexError) => void): void {
    this.#warning = handler;
  }

  close(): Promise<void> {
    this.#closing = true;
    if (this.#failure) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#closed = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#socket.close(1000);
    });
  }

  #take(data: unknown): void {
    if (typeof data !== "string") return this.#warning(new ProtocolError("a frame is not text"));
    let message: JsonRpcMessage;
    try {
      message = JSON.parse(data) as JsonRpcMessage;
    } catch (cause) {
      return this.#warning(new ProtocolError(`a frame is not JSON: ${data.slice(0, 200)}`, { cause }));
    }
    this.#message(message, data.length);
  }
}

/** What an error event says, where platforms say anything. */
function said(event: unknown): string {
  const message = typeof event === "object" && event !== null && "message" in event ? event.message : "";
  return typeof message === "string" && message !== "" ? `: ${message}` : "";
}

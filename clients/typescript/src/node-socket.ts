/**
 * A websocket for Node 20, which has none of its own: RFC 6455 for a client, without extensions. Newer
 * versions, Bun and Deno bring one.
 */

import { createHash, randomBytes } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import type { Duplex } from "node:stream";

import { LINE_LIMIT } from "./lines.ts";
import type { OpenSocket, Socket } from "./socket.ts";

/** Defined by RFC 6455. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const CONTINUATION = 0;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Close codes. */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
const NO_STATUS = 1005;
const ABNORMAL = 1006;
const TOO_LONG = 1009;

/** Opens a socket with the token in the `Authorization` header, by the platform's own means if it has any. */
export const openSocket: OpenSocket = (url, token) => {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const Native = (globalThis as { WebSocket?: new (url: string, options: object) => Socket }).WebSocket;
  return Native ? new Native(url, { headers }) : new NodeSocket(url, headers);
};

/** The client's end of a websocket. */
export class NodeSocket implements Socket {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  onerror: ((event: never) => void) | null = null;

  #stream: Duplex | undefined;
  #isClosed = false;
  /** Why the other side closes, once it says so. */
  #closing = { code: ABNORMAL, reason: "" };
  readonly #frames = new FrameReader(
    (opcode, payload) => this.#take(opcode, payload),
    (code) => this.#fail(code),
  );
  readonly #abandon: () => void;

  constructor(url: string, headers: Record<string, string>) {
    const key = randomBytes(16).toString("base64");
    const target = new URL(url);
    const isSecure = target.protocol === "wss:";
    target.protocol = isSecure ? "https:" : "http:";
    const asked = (isSecure ? secureRequest : request)(target, {
      headers: {
        ...headers,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key,
      },
    });
    this.#abandon = () => asked.destroy();
    asked.on("upgrade", (answer, stream, head) => this.#open(key, answer, stream, head));
    asked.on("response", (answer) => {
      answer.resume();
      this.#error(`the server answered ${answer.statusCode} ${answer.statusMessage}`);
    });
    asked.on("error", (error) => this.#error(error.message));
    asked.end();
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text));
  }

  close(code: number = NORMAL): void {
    if (!this.#stream) return this.#abandon();
    this.#closing.code = code;
    this.#end(code);
  }

  #open(key: string, answer: IncomingMessage, stream: Duplex, head: Buffer): void {
    const accept = createHash("sha1").update(key + ACCEPT_SUFFIX).digest("base64");
    if (answer.headers["sec-websocket-accept"] !== accept) {
      stream.destroy();
      return this.#error("the server does not know the websocket protocol");
    }
    this.#stream = stream;
    stream.on("error", () => {});
    stream.on("close", () => this.#closed());
    stream.on("end", () => stream.end());
    this.onopen?.(undefined as never);
    stream.on("data", (piece: Buffer) => this.#frames.push(piece));
    if (head.length > 0) this.#frames.push(head);
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === TEXT) return this.onmessage?.({ data: payload.toString() });
    if (opcode === BINARY) return this.onmessage?.({ data: payload });
    if (opcode === PING) return this.#write(PONG, payload);
    if (opcode === CLOSE) {
      const code = payload.length < 2 ? NO_STATUS : payload.readUInt16BE(0);
      this.#closing = { code, reason: payload.subarray(2).toString() };
      this.#end(code === NO_STATUS ? NORMAL : code);
    }
  }

  #fail(code: number): void {
    this.#closing = { code, reason: "" };
    this.#end(code);
  }

  #end(code: number): void {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#write(CLOSE, payload);
    this.#stream?.end();
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.#stream?.writable) this.#stream.write(frame(opcode, payload));
  }

  #error(message: string): void {
    if (this.#isClosed) return;
    this.onerror?.({ message } as never);
    this.#closed();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.(this.#closing);
  }
}

/** A frame of a client, which is always masked. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const wide = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(6 + wide);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (wide === 0 ? length : wide === 2 ? 126 : 127);
  if (wide === 2) head.writeUInt16BE(length, 2);
  if (wide === 8) head.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(head, 2 + wide);
  const masked = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at++) masked[at] = (payload[at] as number) ^ (mask[at & 3] as number);
  return Buffer.concat([head, masked]);
}

/** Bytes in any pieces become whole messages. */
class FrameReader {
  #pieces: Buffer[] = [];
  #length = 0;
  #isDone = false;
  /** The fragments of a message that is not complete. */
  #fragments: { opcode: number; payloads: Buffer[]; length: number } | undefined;
  readonly #message: (opcode: number, payload: Buffer) => void;
  readonly #broken: (code: number) => void;

  constructor(message: (opcode: number, payload: Buffer) => void, broken: (code: number) => void) {
    this.#message = message;
    this.#broken = broken;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (!this.#isDone && this.#next());
  }

  /** Takes one frame, if it is there in full. */
  #next(): boolean {
    const head = this.#peek(10);
    if (head.length < 2) return false;
    const [first, second] = [head[0] as number, head[1] as number];
    const wide = (second & 0x7f) === 126 ? 2 : (second & 0x7f) === 127 ? 8 : 0;
    if (head.length < 2 + wide) return false;
    if (second & 0x80 || first & 0x70) return this.#refuse(PROTOCOL_ERROR);
    const length =
      wide === 0 ? second & 0x7f : wide === 2 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
    if (length + (this.#fragments?.length ?? 0) > LINE_LIMIT) return this.#refuse(TOO_LONG);
    if (this.#length < 2 + wide + length) return false;
    const bytes = this.#all();
    const end = 2 + wide + length;
    this.#pieces = end < bytes.length ? [bytes.subarray(end)] : [];
    this.#length = bytes.length - end;
    this.#frame(first, bytes.subarray(2 + wide, end));
    return true;
  }

  #frame(first: number, payload: Buffer): void {
    const [isFinal, opcode] = [(first & 0x80) !== 0, first & 0x0f];
    if (opcode >= CLOSE) return this.#message(opcode, payload);
    if ((opcode === CONTINUATION) !== (this.#fragments !== undefined)) {
      this.#refuse(PROTOCOL_ERROR);
      return;
    }
    const whole = this.#fragments ?? { opcode, payloads: [], length: 0 };
    whole.payloads.push(payload);
    whole.length += payload.length;
    this.#fragments = isFinal ? undefined : whole;
    if (isFinal) this.#message(whole.opcode, whole.payloads.length === 1 ? payload : Buffer.concat(whole.payloads));
  }

  #refuse(code: number): false {
    this.#isDone = true;
    this.#pieces = [];
    this.#broken(code);
    return false;
  }

  #peek(count: number): Buffer {
    const first = this.#pieces[0];
    return first && first.length >= Math.min(count, this.#length) ? first : this.#all();
  }

  #all(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] ?? Buffer.alloc(0);
  }
}

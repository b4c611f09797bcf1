/** The questions of a server that wait for an answer. */

import { type CodexError, ExitedError, ProtocolError } from "./errors.ts";
import { answer, type Handlers, type Tool } from "./handlers.ts";
import { type Peer, text } from "./rpc.ts";

/** Answers each question once, unless nobody wants the answer any more. */
export class Questions {
  readonly #handlers: Handlers;
  readonly #tools: readonly Tool[];
  readonly #warn: (error: CodexError) => void;
  readonly #pending = new Map<number | string, AbortController>();

  constructor(handlers: Handlers, tools: readonly Tool[], warn: (error: CodexError) => void) {
    this.#handlers = handlers;
    this.#tools = tools;
    this.#warn = warn;
  }

  /** Has a question answered. */
  ask(peer: Peer, id: number | string, method: string, params: unknown): void {
    const question = new AbortController();
    this.#pending.set(id, question);
    const answering = answer(this.#handlers, this.#tools, method, params, { signal: question.signal });
    void answering.then(({ reply, problem }) => {
      if (this.#pending.get(id) === question) {
        this.#pending.delete(id);
        peer.respond(id, reply);
      }
      if (problem === undefined) return;
      const message = `the handler of \`${method}\` failed, and the default was answered: ${text(problem)}`;
      this.#warn(new ProtocolError(message, { cause: problem }));
    });
  }

  /** Someone answered, or nobody needs to any more. */
  resolve(id: number | string): void {
    this.#pending.get(id)?.abort(new ExitedError("the question is settled"));
    this.#pending.delete(id);
  }

  /** Nobody can be answered any more. */
  abandon(error: CodexError): void {
    for (const question of this.#pending.values()) question.abort(error);
    this.#pending.clear();
  }
}

/** The questions of the server that nobody has answered yet, of all threads. */

import type { HandlerContext, Handlers } from "@quipu/client/websocket";

/** A question. */
export interface Question {
  readonly key: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly threadId: string;
  /** Answers it. */
  answer(result: unknown): void;
}

/** Keeps questions until somebody answers, here or elsewhere. */
export class Questions {
  readonly #pending = new Map<number, Question>();
  readonly #changed: () => void;
  #next = 1;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** All, the oldest first. */
  get all(): Question[] {
    return [...this.#pending.values()];
  }

  /** Those of a thread. */
  of(threadId: string): Question[] {
    return this.all.filter((question) => question.threadId === threadId);
  }

  /** What the client calls with each question. */
  get handlers(): Handlers {
    const decision = (method: string) => (params: object, context: HandlerContext) =>
      this.#ask(method, params, context) as Promise<never>;
    return {
      approveCommand: decision("item/commandExecution/requestApproval"),
      approveFileChange: decision("item/fileChange/requestApproval"),
      approvePermissions: decision("item/permissions/requestApproval"),
      answerQuestions: decision("item/tool/requestUserInput"),
      answerElicitation: decision("mcpServer/elicitation/request"),
    };
  }

  #ask(method: string, params: object, { signal }: HandlerContext): Promise<unknown> {
    return new Promise((resolve) => {
      const key = this.#next++;
      const remove = () => {
        if (this.#pending.delete(key)) this.#changed();
      };
      const given = params as Record<string, unknown>;
      this.#pending.set(key, {
        key,
        method,
        params: given,
        threadId: String(given["threadId"] ?? ""),
        answer: (result) => {
          remove();
          resolve(result);
        },
      });
      // It was answered elsewhere, or the connection is gone and it will be asked again.
      signal.addEventListener("abort", remove);
      this.#changed();
    });
  }
}

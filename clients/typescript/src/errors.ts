/** What can go wrong: one class for each cause, all of them a `CodexError`. */

import type { CompletedTurn, Turn, TurnError } from "./types.ts";

/** What every error of this package has. */
export interface ErrorDetails {
  /** What the server added to its answer, or what else is known. */
  data?: unknown;
  /** The last lines that the server's process wrote to standard error. */
  stderr?: string;
  /** What caused it. */
  cause?: unknown;
}

/** An error of this package. */
export class CodexError extends Error {
  /** For programs: the code of the server's answer, or a word for the class. */
  readonly code: number | string;
  /** What the server added to its answer, or what else is known. */
  readonly data: unknown;
  /** The last lines that the server's process wrote to standard error; empty if it has none. */
  readonly stderr: string;

  constructor(message: string, code: number | string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.name = new.target.name;
    this.code = code;
    this.data = details.data;
    this.stderr = details.stderr ?? "";
  }
}

/** The server answered a request with an error; `message`, `code` and `data` are the server's. */
export class RefusedError extends CodexError {
  /** The request. */
  readonly method: string;
  declare readonly code: number;

  constructor(method: string, error: { code: number; message: string; data?: unknown }, stderr?: string) {
    super(error.message, error.code, { data: error.data, stderr: stderr ?? "" });
    this.method = method;
  }
}

/** No answer came in time, or a turn took too long. The request may still take effect. */
export class TimeoutError extends CodexError {
  /** The request, or `turn`. */
  readonly method: string;
  /** The limit. */
  readonly timeoutMs: number;

  constructor(method: string, timeoutMs: number, stderr?: string) {
    super(`\`${method}\` took longer than ${timeoutMs} ms`, "TIMEOUT", { stderr: stderr ?? "" });
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** The server is gone: its process ended or could not be started, or the connection to it broke. */
export class ExitedError extends CodexError {
  /** The exit code of the process, or the close code of the websocket. */
  readonly exitCode: number | null;
  /** The signal that ended the process. */
  readonly signal: string | null;

  constructor(
    message: string,
    exit: { exitCode?: number | null; signal?: string | null } = {},
    details: ErrorDetails = {},
  ) {
    const words = details.stderr?.trim();
    super(words ? `${message}; it said: ${words}` : message, "EXITED", details);
    this.exitCode = exit.exitCode ?? null;
    this.signal = exit.signal ?? null;
  }
}

/** An `AbortSignal` ended the wait. Like the errors of `fetch`, its name is `AbortError`. */
export class AbortedError extends CodexError {
  /** The reason that the signal gives. */
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("the wait was aborted", "ABORTED", { cause: reason });
    this.name = "AbortError";
    this.reason = reason;
  }
}

/** A turn ended as failed; the message is the server's. */
export class TurnFailedError extends CodexError {
  /** The turn at its end. */
  readonly turn: Turn;
  /** What went wrong. */
  readonly turnError: TurnError;
  /** What the turn did before it failed. */
  readonly outcome: CompletedTurn;

  constructor(outcome: CompletedTurn, stderr?: string) {
    const error = outcome.turn.error ?? { message: "the turn failed and the server gave no reason" };
    super(error.message, "TURN_FAILED", { data: error.codexErrorInfo, stderr: stderr ?? "" });
    this.turn = outcome.turn;
    this.turnError = error;
    this.outcome = outcome;
  }
}

/** The other side sent something that is not a message of this protocol. */
export class ProtocolError extends CodexError {
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, "PROTOCOL", details);
  }
}

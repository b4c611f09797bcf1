/**
 * The types of the everyday API. They are deliberately loose, because servers of other versions leave
 * members out and send new ones; `protocol` has the exact types of every message.
 */

import type { CodexError } from "./errors.ts";
import type * as protocol from "./generated/protocol.ts";

/** A request. */
export interface JsonRpcRequest {
  method: string;
  id: number | string;
  params?: unknown;
}

/** The answer to a request. */
export interface JsonRpcResponse {
  id: number | string | null;
  result?: unknown;
  error?: JsonRpcError;
}

/** A message that is not answered. */
export interface JsonRpcNotification {
  method: string;
  params?: unknown;
}

/** Why a request was refused. */
export interface JsonRpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Any message. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcResponse | JsonRpcNotification;

/** Carries messages. Implement it to run a client over something else. */
export interface Transport {
  /** Sends a message. May throw if the other side is gone. */
  send(message: JsonRpcMessage): void;
  /** Sets who gets the messages, with the length of their JSON if it is known. */
  onMessage(handler: (message: JsonRpcMessage, size?: number) => void): void;
  /** Sets who is notified when the other side is gone. Not called after `close`. */
  onClose?(handler: (error: CodexError) => void): void;
  /** Sets who is notified of input that cannot be read. */
  onWarning?(handler: (error: CodexError) => void): void;
  /** Ends the connection and what belongs to it. */
  close(): Promise<void>;
  /** The last lines of the server's standard error, if it has one. */
  readonly stderr?: string;
}

/** A conversation with the agent. Servers of some versions leave out all but the id. */
export type Thread = { id: string } & Partial<Omit<protocol.Thread, "id" | "turns">> & { turns?: Turn[] };

/** What the agent does about one input of the user. */
export interface Turn {
  id: string;
  status: "inProgress" | "completed" | "interrupted" | "failed";
  /** Filled when a history is read; empty in events. */
  items: ThreadItem[];
  /** Set only if `failed`. */
  error?: TurnError | null;
}

/** What went wrong in a turn. */
export interface TurnError {
  /** For people. */
  message: string;
  /** For programs. */
  codexErrorInfo?: protocol.CodexErrorInfo | null;
  /** The underlying cause. */
  additionalDetails?: string | null;
}

/**
 * One thing that was said or done, of a type that this version knows or of another. `isItem` narrows it to
 * the exact type.
 */
export type ThreadItem =
  | { type: "userMessage"; id: string; content: unknown[] }
  | { type: "agentMessage"; id: string; text: string }
  | {
      type: "commandExecution";
      id: string;
      command: string;
      cwd?: string;
      status: string;
      exitCode?: number | null;
      aggregatedOutput?: string | null;
    }
  | { type: "fileChange"; id: string; changes: FileChange[]; status: string }
  | { type: "enteredReviewMode"; id: string; review: string }
  | { type: "exitedReviewMode"; id: string; review: string }
  | { type: "reasoning"; id: string; summary?: unknown; content?: unknown }
  | { type: "plan"; id: string; text: string }
  | { type: string; id: string; [key: string]: unknown };

/** The change to one file of a patch. */
export interface FileChange {
  path: string;
  kind: string | protocol.PatchChangeKind;
  diff: string;
}

/** A step of the agent's plan. */
export type PlanEntry = protocol.TurnPlanStep;

/** Whether an item is of a type; narrows it to the exact type of the protocol. */
export function isItem<T extends protocol.ThreadItem["type"]>(
  item: ThreadItem | protocol.ThreadItem,
  type: T,
): item is Extract<protocol.ThreadItem, { type: T }> {
  return item.type === type;
}

/** When the agent asks before it acts: a word of this package or one of the protocol. */
export type ApprovalPolicy = "never" | "unlessTrusted" | "always" | protocol.AskForApproval;

/** What commands may do: a word of this package or one of the protocol. */
export type Sandbox = "readOnly" | "workspaceWrite" | "dangerFullAccess" | protocol.SandboxMode;

/** What commands may do, in detail. */
export interface SandboxPolicy {
  /** `readOnly`, `workspaceWrite`, `dangerFullAccess` or `externalSandbox`. */
  type: string;
  /** Directories to write in besides the working directory. */
  writableRoots?: string[];
  networkAccess?: boolean;
}

/** How to start a thread. What is left open is taken from the client's options. */
export interface StartThreadParams
  extends Omit<protocol.ThreadStartParams, "approvalPolicy" | "sandbox" | "personality"> {
  approvalPolicy?: ApprovalPolicy | (string & {}) | null;
  sandbox?: Sandbox | (string & {}) | null;
  personality?: protocol.Personality | (string & {}) | null;
}

/** How to resume a thread. */
export interface ResumeThreadParams
  extends Omit<protocol.ThreadResumeParams, "threadId" | "approvalPolicy" | "sandbox" | "personality"> {
  approvalPolicy?: ApprovalPolicy | (string & {}) | null;
  sandbox?: Sandbox | (string & {}) | null;
  personality?: protocol.Personality | (string & {}) | null;
}

/** Which threads to list. */
export type ListThreadsParams = protocol.ThreadListParams;

/** How to start a turn. */
export interface StartTurnParams
  extends Omit<protocol.TurnStartParams, "input" | "effort" | "approvalPolicy" | "sandboxPolicy"> {
  threadId: string;
  input: TurnInput[];
  effort?: protocol.ReasoningEffort | (string & {}) | null;
  approvalPolicy?: ApprovalPolicy | (string & {}) | null;
  sandboxPolicy?: SandboxPolicy | protocol.SandboxPolicy | null;
}

/** Input for the running turn. */
export interface SteerTurnParams {
  threadId: string;
  input: TurnInput[];
  expectedTurnId: string;
}

/** What to review. */
export interface StartReviewParams {
  threadId: string;
  delivery?: "inline" | "detached";
  target: ReviewTarget;
}

/** Which models to list. */
export type ListModelsParams = protocol.ModelListParams;

/** A command to run outside any thread. */
export interface ExecCommandParams extends Omit<protocol.CommandExecParams, "sandboxPolicy"> {
  sandboxPolicy?: SandboxPolicy | protocol.SandboxPolicy | null;
}

/** One piece of what the user says. */
export type TurnInput = protocol.UserInput;

/**
 * What is reviewed. Servers need a branch and instructions: a `baseBranch` without a branch is compared
 * with `main`, a `custom` review without instructions looks at the uncommitted changes.
 */
export type ReviewTarget =
  | { type: "uncommittedChanges" }
  | { type: "baseBranch"; branch?: string }
  | { type: "commit"; sha: string; title?: string | null }
  | { type: "custom"; instructions?: string };

/** What a turn did. */
export interface CompletedTurn {
  /** The turn at its end; its status is `completed` or `interrupted`. */
  turn: Turn;
  /** Its items in the order in which they were completed. */
  items: ThreadItem[];
  /** How many items at the front are missing because there were more than 10,000. */
  missedItems: number;
  /** The text of the last message of the agent; empty if there was none. */
  agentMessage: string;
  /** All that patches changed, as one diff, if they did. */
  diff?: string;
  /** The tokens that were used, as last reported. */
  usage?: protocol.ThreadTokenUsage;
}

/** What a review found. */
export interface CompletedReview {
  /** The turn of the review. */
  turn: Turn;
  /** The review as text, findings included; empty if it was interrupted before. */
  reviewText: string;
}

/** What started a review. */
export interface ReviewResult {
  /** The turn of the review. */
  turn: Turn;
  /** The thread of the review: the same for `inline`, a new one for `detached`. */
  reviewThreadId: string;
}

/** A page of models. */
export interface ModelListResult {
  data: ModelInfo[];
  nextCursor?: string | null;
}

/** A model to choose from. */
export type ModelInfo = { id: string; model: string; displayName: string } & Partial<protocol.Model>;

/** A page of threads. */
export interface ThreadListResult {
  data: Thread[];
  nextCursor?: string | null;
}

/** What a command printed, and its exit code. */
export interface ExecCommandResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** How long one call may take, and what ends it early. */
export interface CallOptions {
  /** Milliseconds; `Infinity` for no limit. The client's options have the default. */
  timeoutMs?: number;
  /** Ends the wait. A turn that is waited for is interrupted. */
  signal?: AbortSignal;
}

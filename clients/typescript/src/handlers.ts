/**
 * Who answers what a server asks: approvals, tool calls, questions to the user, new tokens. Every question has
 * a safe default, so that no turn waits for an answer that does not come.
 */

import { RefusedError } from "./errors.ts";
import type * as protocol from "./generated/protocol.ts";
import { text } from "./rpc.ts";
import { type FromSchema, type JsonSchema, mismatch } from "./schema.ts";
import type { JsonRpcError } from "./types.ts";

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

type Awaitable<T> = T | Promise<T>;

/** What a handler knows besides its question. */
export interface HandlerContext {
  /** Aborted when the answer is not wanted any more: someone else gave it, or the turn ended. */
  signal: AbortSignal;
}

/**
 * Answers to the questions of a server. What is left out gets the default, and so does a question whose handler
 * throws.
 */
export interface Handlers {
  /** May this command run? Default: it is declined, and the turn goes on without it. */
  approveCommand?(
    request: protocol.CommandExecutionRequestApprovalParams,
    context: HandlerContext,
  ): Awaitable<protocol.CommandExecutionApprovalDecision>;
  /** May these files be changed? Default: it is declined, and the turn goes on without it. */
  approveFileChange?(
    request: protocol.FileChangeRequestApprovalParams,
    context: HandlerContext,
  ): Awaitable<protocol.FileChangeApprovalDecision>;
  /** May the agent do more than its sandbox allows? Default: nothing more is granted. */
  approvePermissions?(
    request: protocol.PermissionsRequestApprovalParams,
    context: HandlerContext,
  ): Awaitable<protocol.PermissionsRequestApprovalResponse>;
  /** What does the user say to these questions of the agent? Default: nothing. */
  answerQuestions?(
    request: protocol.ToolRequestUserInputParams,
    context: HandlerContext,
  ): Awaitable<protocol.ToolRequestUserInputResponse>;
  /** What does the user say to an MCP server? Default: the question is declined. */
  answerElicitation?(
    request: protocol.McpServerElicitationRequestParams,
    context: HandlerContext,
  ): Awaitable<protocol.McpServerElicitationRequestResponse>;
  /** Runs a tool that is not among the client's `tools`. Default: it fails, and the model learns why. */
  callTool?(
    request: protocol.DynamicToolCallParams,
    context: HandlerContext,
  ): Awaitable<protocol.DynamicToolCallResponse>;
  /** Gets new tokens for an account whose tokens the client manages. Default: an error. */
  refreshTokens?(
    request: protocol.ChatgptAuthTokensRefreshParams,
    context: HandlerContext,
  ): Awaitable<protocol.ChatgptAuthTokensRefreshResponse>;
  /** May this patch be applied? Asked by old servers. Default: it is denied. */
  approveLegacyPatch?(
    request: protocol.ApplyPatchApprovalParams,
    context: HandlerContext,
  ): Awaitable<protocol.ReviewDecision>;
  /** May this command run? Asked by old servers. Default: it is denied. */
  approveLegacyCommand?(
    request: protocol.ExecCommandApprovalParams,
    context: HandlerContext,
  ): Awaitable<protocol.ReviewDecision>;
  /** A question that this version does not know. Default: an error that says so. */
  answerUnknown?(method: string, params: unknown, context: HandlerContext): Awaitable<unknown>;
}

/** What a tool returns: text, parts of text and images, or a value that the model gets as JSON. */
export type ToolOutput = string | protocol.DynamicToolCallOutputContentItem[] | object | number | boolean | null;

/** What a tool knows besides its arguments. */
export interface ToolContext extends HandlerContext {
  threadId: string;
  turnId: string;
  /** The id of the `dynamicToolCall` item. */
  callId: string;
}

/** A tool of the client that the model can call. */
export interface Tool {
  /** Unique in the thread. */
  readonly name: string;
  /** What the model goes by to use it. */
  readonly description: string;
  /** A JSON Schema of its arguments. */
  readonly inputSchema: JsonSchema;
  /** Does the work. If it throws, the model learns the message. */
  readonly run: (args: never, context: ToolContext) => Awaitable<ToolOutput>;
}

/** Makes a tool whose arguments have the type that its schema describes; others are refused before `run`. */
export function tool<const S extends JsonSchema>(definition: {
  name: string;
  description: string;
  inputSchema: S;
  run: (args: FromSchema<S>, context: ToolContext) => Awaitable<ToolOutput>;
}): Tool {
  return definition;
}

type Answers = {
  [M in keyof protocol.ServerRequests]: (
    params: protocol.ServerRequests[M]["params"],
    context: HandlerContext,
  ) => Promise<protocol.ServerRequests[M]["result"]>;
};

/** The answer to one question: a result or an error, and what went wrong on the way. */
export interface Answer {
  reply: { result: unknown } | { error: JsonRpcError };
  problem?: unknown;
}

/** Answers one question; never rejects. */
export async function answer(
  handlers: Handlers,
  tools: readonly Tool[],
  method: string,
  params: unknown,
  context: HandlerContext,
): Promise<Answer> {
  try {
    return { reply: { result: await ask(answers(handlers, tools), handlers, method, params, context) } };
  } catch (problem) {
    const isRefusal = problem instanceof RefusedError;
    try {
      const result = await ask(answers({}, []), {}, method, params, context);
      return isRefusal ? { reply: { result } } : { reply: { result }, problem };
    } catch (refusal) {
      const code = refusal instanceof RefusedError ? refusal.code : INVALID_PARAMS;
      const error = { code, message: text(refusal) };
      return isRefusal ? { reply: { error } } : { reply: { error }, problem };
    }
  }
}

async function ask(
  known: Answers,
  handlers: Handlers,
  method: string,
  params: unknown,
  context: HandlerContext,
): Promise<unknown> {
  if (Object.hasOwn(known, method)) return known[method as keyof Answers](params as never, context);
  if (handlers.answerUnknown) return handlers.answerUnknown(method, params, context);
  throw refused(method, `this client does not know \`${method}\``);
}

function answers(handlers: Handlers, tools: readonly Tool[]): Answers {
  return {
    "item/commandExecution/requestApproval": async (request, context) => ({
      decision: (await handlers.approveCommand?.(request, context)) ?? "decline",
    }),
    "item/fileChange/requestApproval": async (request, context) => ({
      decision: (await handlers.approveFileChange?.(request, context)) ?? "decline",
    }),
    "item/permissions/requestApproval": async (request, context) =>
      (await handlers.approvePermissions?.(request, context)) ?? { permissions: {}, scope: "turn" },
    "item/tool/requestUserInput": async (request, context) =>
      (await handlers.answerQuestions?.(request, context)) ?? { answers: {} },
    "mcpServer/elicitation/request": async (request, context) =>
      (await handlers.answerElicitation?.(request, context)) ?? { action: "decline", content: null, _meta: null },
    "item/tool/call": async (request, context) => {
      const tool = tools.find((it) => it.name === request.tool);
      if (tool) return run(tool, request, context);
      const answer = await handlers.callTool?.(request, context);
      return answer ?? failed(`The client has no tool named \`${request.tool}\`.`);
    },
    "account/chatgptAuthTokens/refresh": async (request, context) => {
      const tokens = await handlers.refreshTokens?.(request, context);
      if (!tokens) throw refused("account/chatgptAuthTokens/refresh", "this client does not manage tokens");
      return tokens;
    },
    applyPatchApproval: async (request, context) => ({
      decision: (await handlers.approveLegacyPatch?.(request, context)) ?? "denied",
    }),
    execCommandApproval: async (request, context) => ({
      decision: (await handlers.approveLegacyCommand?.(request, context)) ?? "denied",
    }),
  };
}

function refused(method: string, message: string): RefusedError {
  return new RefusedError(method, { code: METHOD_NOT_FOUND, message });
}

async function run(
  tool: Tool,
  request: protocol.DynamicToolCallParams,
  context: HandlerContext,
): Promise<protocol.DynamicToolCallResponse> {
  const problem = mismatch(tool.inputSchema, request.arguments);
  if (problem !== undefined) return failed(`The arguments of \`${tool.name}\` do not match its schema: ${problem}.`);
  const { threadId, turnId, callId } = request;
  try {
    const output = await tool.run(request.arguments as never, { ...context, threadId, turnId, callId });
    return { success: true, contentItems: contentItems(output) };
  } catch (error) {
    return failed(text(error));
  }
}

function contentItems(output: ToolOutput): protocol.DynamicToolCallOutputContentItem[] {
  if (typeof output === "string") return [{ type: "inputText", text: output }];
  const isContent = Array.isArray(output) && output.every(isContentItem);
  return isContent ? output : [{ type: "inputText", text: JSON.stringify(output) ?? "null" }];
}

function isContentItem(item: unknown): item is protocol.DynamicToolCallOutputContentItem {
  if (typeof item !== "object" || item === null || !("type" in item)) return false;
  return item.type === "inputText" || item.type === "inputImage";
}

function failed(text: string): protocol.DynamicToolCallResponse {
  return { success: false, contentItems: [{ type: "inputText", text }] };
}

/** The public types: what they accept and what they know, judged by the compiler; and the check of schemas. */

import assert from "node:assert/strict";

import {
  CodexClient,
  type CodexClientOptions,
  type CompletedReview,
  type CompletedTurn,
  type FromSchema,
  isItem,
  type JsonRpcError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type ListModelsParams,
  type ModelListResult,
  type PlanEntry,
  type ReviewTarget,
  type SandboxPolicy,
  type StartReviewParams,
  type StartThreadParams,
  type StartTurnParams,
  type SteerTurnParams,
  type Thread,
  type ThreadItem,
  type ThreadListResult,
  tool,
  type Turn,
  type TurnError,
  type TurnInput,
} from "../index.ts";
import { mismatch } from "../schema.ts";
import { test } from "./support.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if it is given `true`. */
function holds<T extends true>(): T | undefined {
  return undefined;
}

/** What people write is accepted. It is compiled, never run. */
export async function accepted(client: CodexClient): Promise<void> {
  const options: CodexClientOptions = {
    clientName: "openclaw",
    clientVersion: "0.1.0",
    model: "gpt-5.3-codex",
    cwd: process.cwd(),
    approvalPolicy: "always",
    sandbox: "workspaceWrite",
    experimentalApi: true,
  };
  new CodexClient(options);
  const policies: CodexClientOptions["approvalPolicy"][] = ["never", "unlessTrusted", "always", "on-request"];
  const request: JsonRpcRequest = { method: "m", id: 1, params: {} };
  const error: JsonRpcError = { code: 1, message: "m" };
  const response: JsonRpcResponse = { id: 1, result: {}, error };
  const notification: JsonRpcNotification = { method: "m" };
  const thread: Thread = { id: "t", preview: "p", modelProvider: "m", createdAt: 1, updatedAt: 2 };
  const turnError: TurnError = { message: "m", codexErrorInfo: "other" };
  const items: ThreadItem[] = [
    { type: "userMessage", id: "i", content: [] },
    { type: "agentMessage", id: "i", text: "t" },
    { type: "commandExecution", id: "i", command: "c", cwd: "/", status: "completed", exitCode: 0, aggregatedOutput: "" },
    { type: "fileChange", id: "i", changes: [{ path: "p", kind: "add", diff: "d" }], status: "completed" },
    { type: "enteredReviewMode", id: "i", review: "r" },
    { type: "exitedReviewMode", id: "i", review: "r" },
    { type: "reasoning", id: "i" },
    { type: "plan", id: "i", text: "t" },
    { type: "somethingNew", id: "i", extra: true },
  ];
  const turn: Turn = { id: "u", status: "failed", items, error: turnError };
  const inputs: TurnInput[] = [
    { type: "text", text: "t" },
    { type: "image", url: "u" },
    { type: "localImage", path: "p" },
    { type: "skill", name: "n", path: "p" },
  ];
  const targets: ReviewTarget[] = [
    { type: "uncommittedChanges" },
    { type: "baseBranch" },
    { type: "commit", sha: "s" },
    { type: "commit", sha: "s", title: "t" },
    { type: "custom" },
  ];
  const sandboxPolicy: SandboxPolicy = { type: "workspaceWrite", writableRoots: ["/w"], networkAccess: true };
  const threadParams: StartThreadParams = { model: "m", cwd: "/", approvalPolicy: "a", sandbox: "s", personality: "p" };
  const turnParams: StartTurnParams = {
    threadId: "t",
    input: inputs,
    cwd: "/",
    model: "m",
    effort: "high",
    approvalPolicy: "never",
    sandboxPolicy,
  };
  const steer: SteerTurnParams = { threadId: "t", input: inputs, expectedTurnId: "u" };
  const review: StartReviewParams = { threadId: "t", delivery: "detached", target: { type: "baseBranch" } };

  await client.connect();
  const started: Thread = await client.startThread(threadParams);
  const resumed: Thread = await client.resumeThread("t", { personality: "p" });
  const forked: Thread = await client.forkThread("t");
  const read: Thread = await client.readThread("t", true);
  const threads: ThreadListResult = await client.listThreads();
  const archived: void = await client.archiveThread("t");
  const compacted: void = await client.compactThread("t");
  const begun: Turn = await client.startTurn(turnParams);
  const steered: string = await client.steerTurn(steer);
  const interrupted: void = await client.interruptTurn("t", "u");
  const reviewed = await client.startReview(review);
  const models: ModelListResult = await client.listModels({} satisfies ListModelsParams);
  const { exitCode, stdout, stderr } = await client.execCommand({ command: ["ls"], cwd: "/", sandboxPolicy });
  const done: CompletedTurn = await client.runTurn(turnParams);
  const { turn: reviewTurn, reviewText }: CompletedReview = await client.runReview(review);
  await client.disconnect();

  client.on("turn:started", (turn: Turn) => turn);
  client.on("turn:completed", (turn: Turn) => turn);
  client.on("item:started", (item: ThreadItem) => item);
  client.on("item:completed", (item: ThreadItem) => item);
  client.on("item:agentMessage:delta", (delta: { itemId: string; text: string }) => delta);
  client.on("item:commandExecution:outputDelta", (delta: { itemId: string; output: string }) => delta);
  client.on("turn:diff:updated", (data: { threadId: string; turnId: string; diff: string }) => data);
  client.on("turn:plan:updated", (data: { turnId: string; plan: PlanEntry[] }) => data);
  client.on("thread:started", (thread: Thread) => thread);
  // @ts-expect-error a misspelt event
  client.on("turn:finished", () => {});
  // @ts-expect-error a misspelt member
  await client.turnStart({ thread: "t", input: [] });

  holds<Equal<typeof exitCode, number>>();
  holds<Equal<Awaited<ReturnType<typeof client.threadLoadedList>>["data"], string[]>>();
  const rest = [policies, request, response, notification, thread, turn, targets, started, resumed, forked, read];
  const more = [threads, archived, compacted, begun, steered, interrupted, reviewed, models, stdout, stderr, done];
  console.log(rest, more, reviewTurn, reviewText);
}

/** Streams and items narrow. It is compiled, never run. */
export async function narrowed(client: CodexClient, turn: Turn): Promise<void> {
  for await (const event of client.stream(turn)) {
    if (event.method === "item/agentMessage/delta") holds<Equal<typeof event.params.delta, string>>();
    if (event.method === "client/lagged") holds<Equal<typeof event.params.missed, number>>();
  }
  for (const item of turn.items) {
    if (isItem(item, "agentMessage")) holds<Equal<typeof item.text, string>>();
    if (isItem(item, "commandExecution")) holds<Equal<typeof item.exitCode, number | null>>();
  }
}

const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "array", items: { type: "integer" } },
    unit: { enum: ["celsius", "fahrenheit"] },
    near: { anyOf: [{ type: "number" }, { type: "null" }] },
    place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
  },
  required: ["city", "days"],
  additionalProperties: false,
} as const;

test("a schema gives the type of a tool's arguments", () => {
  type Args = FromSchema<typeof schema>;
  interface Expected {
    city: string;
    days: number[];
    unit?: "celsius" | "fahrenheit";
    near?: number | null;
    place?: { x: number };
  }
  const there = (args: Args): Expected => args;
  const back = (args: Expected): Args => args;
  const { name } = tool({
    name: "weather",
    description: "Says how the weather is.",
    inputSchema: schema,
    run: (args) => {
      holds<Equal<typeof args.city, string>>();
      return there(back(args)).city;
    },
  });
  assert.equal(name, "weather");
});

test("values are checked against schemas", () => {
  const check = (value: unknown) => mismatch(schema, value);
  assert.equal(check({ city: "Quito", days: [1, 2], unit: "celsius", near: null, place: { x: 1 } }), undefined);
  assert.equal(check(1), "arguments must be of type object");
  assert.equal(check([]), "arguments must be of type object");
  assert.equal(check({ city: "Quito" }), "arguments.days is missing");
  assert.equal(check({ city: 1, days: [] }), "arguments.city must be of type string");
  assert.equal(check({ city: "Q", days: [1, 1.5] }), "arguments.days[1] must be of type integer");
  assert.equal(check({ city: "Q", days: [], unit: "k" }), 'arguments.unit must be one of ["celsius","fahrenheit"]');
  assert.equal(check({ city: "Q", days: [], near: "x" }), "arguments.near must be of type number");
  assert.equal(check({ city: "Q", days: [], place: {} }), "arguments.place.x is missing");
  assert.equal(check({ city: "Q", days: [], extra: 1 }), "arguments.extra is unknown");
  assert.equal(mismatch({ const: 5 }, 6), "arguments must be 5");
  assert.equal(mismatch({ type: "object", additionalProperties: { type: "null" } }, { a: 1 }), "arguments.a must be of type null");
});

/** The client against servers that are written in the test: what it sends, and what it makes of answers. */

import assert from "node:assert/strict";
import { EventEmitter } from "node:events";

import defaultExport, {
  AbortedError,
  CodexClient,
  ExitedError,
  RefusedError,
  TimeoutError,
  tool,
  TurnFailedError,
  type TurnEvent,
} from "../index.ts";
import { connected, ScriptedTransport, test, until } from "./support.ts";

const turn = (status: string, error: object | null = null) => ({ id: "u", items: [], status, error });
const started = { "turn/start": () => ({ turn: turn("inProgress") }), "turn/interrupt": () => ({}) };
const params = { threadId: "t", input: [{ type: "text" as const, text: "hello" }] };
const about = { threadId: "t", turnId: "u" };

test("initialize handshake", async () => {
  const server = new ScriptedTransport();
  const client = new CodexClient({ transport: server });
  assert.equal(client.connected, false);
  await client.connect();
  const clientInfo = { name: "openclaw", title: null, version: "0.1.0" };
  assert.deepEqual(server.sent, [
    { method: "initialize", id: 0, params: { clientInfo, capabilities: { experimentalApi: true } } },
    { method: "initialized" },
  ]);
  assert.equal(client.server.userAgent, "scripted/0.118.0");
  assert.equal(client.connected, true);
  await client.disconnect();
  assert.equal(server.isClosed, true);
});

test("startThread", async () => {
  const { client, server } = await connected({ "thread/start": () => ({ thread: { id: "t" } }) });
  assert.deepEqual(await client.startThread({}), { id: "t" });
  assert.deepEqual(server.last("thread/start"), {
    method: "thread/start",
    id: 1,
    params: { model: "gpt-5.3-codex", cwd: process.cwd(), approvalPolicy: "never", sandbox: "workspace-write" },
  });
  await client.startThread({ model: "m", cwd: "/c", approvalPolicy: "always", sandbox: "readOnly", personality: "pragmatic" });
  assert.deepEqual(server.last("thread/start")?.params, {
    model: "m",
    cwd: "/c",
    approvalPolicy: "untrusted",
    sandbox: "read-only",
    personality: "pragmatic",
  });
});

test("resumeThread", async () => {
  const { client, server } = await connected({ "thread/resume": () => ({ thread: { id: "t" } }) });
  assert.deepEqual(await client.resumeThread("t", { personality: "friendly" }), { id: "t" });
  const { threadId, personality } = server.last("thread/resume")?.params as Record<string, unknown>;
  assert.deepEqual([threadId, personality], ["t", "friendly"]);
});

test("startTurn", async () => {
  const { client, server } = await connected(started);
  assert.equal((await client.startTurn(params)).status, "inProgress");
  assert.deepEqual(server.last("turn/start")?.params, params);
});

test("runTurn collects items", async () => {
  const { client, server } = await connected(started);
  const heard: string[] = [];
  client.on("turn:started", ({ id }) => heard.push(`started ${id}`));
  client.on("item:started", ({ type }) => heard.push(`item ${type}`));
  client.on("item:agentMessage:delta", ({ itemId, text }) => heard.push(`${itemId} ${text}`));
  client.on("item:completed", ({ type }) => heard.push(`done ${type}`));
  client.on("turn:diff:updated", ({ diff }) => heard.push(diff));
  client.on("turn:completed", ({ status }) => heard.push(status));
  const running = client.runTurn(params);
  server.notifies("turn/started", { threadId: "t", turn: turn("inProgress") });
  const item = { type: "agentMessage", id: "i", text: "Hello." };
  server.notifies("item/started", { ...about, item: { ...item, text: "" } });
  server.notifies("item/agentMessage/delta", { ...about, itemId: "i", delta: "Hello." });
  server.notifies("item/completed", { ...about, item });
  server.notifies("item/completed", { threadId: "t", turnId: "another", item });
  server.notifies("turn/diff/updated", { ...about, diff: "+a" });
  server.notifies("turn/completed", { threadId: "t", turn: turn("completed") });
  assert.deepEqual(await running, {
    turn: turn("completed"),
    items: [item],
    missedItems: 0,
    agentMessage: "Hello.",
    diff: "+a",
  });
  assert.deepEqual(heard, [
    "started u",
    "item agentMessage",
    "i Hello.",
    "done agentMessage",
    "done agentMessage",
    "+a",
    "completed",
  ]);
});

test("steerTurn", async () => {
  const { client, server } = await connected({ "turn/steer": () => ({ turnId: "u" }) });
  const steer = { ...params, expectedTurnId: "u" };
  assert.equal(await client.steerTurn(steer), "u");
  assert.deepEqual(server.last("turn/steer")?.params, steer);
});

test("interruptTurn", async () => {
  const { client, server } = await connected(started);
  await client.interruptTurn("t", "u");
  assert.deepEqual(server.last("turn/interrupt")?.params, about);
});

test("error response rejects", async () => {
  const error = { code: -32600, message: "no such thread", data: { reason: "gone" } };
  const { client } = await connected({ "thread/read": () => ({ error }) });
  await assert.rejects(client.readThread("t"), (it: RefusedError) => {
    assert.ok(it instanceof RefusedError && it instanceof Error);
    assert.deepEqual([it.message, it.code, it.data, it.method], [error.message, -32600, error.data, "thread/read"]);
    return true;
  });
});

test("process exit rejects pending", async () => {
  const { client, server } = await connected(started);
  const heard: (Error | undefined)[] = [];
  client.on("error", (error) => heard.push(error));
  client.on("close", (error) => heard.push(error));
  const running = client.runTurn(params);
  const asked = client.listModels();
  await until(() => server.last("turn/start") !== undefined);
  const error = new ExitedError("the server exited with code 3", { exitCode: 3 }, { stderr: "oh no" });
  server.breaks(error);
  await assert.rejects(running, error);
  await assert.rejects(asked, error);
  await assert.rejects(client.listModels(), ExitedError);
  assert.deepEqual(heard, [error, error]);
  assert.match(error.message, /it said: oh no/);
});

test("the client is an EventEmitter and exported twice", () => {
  const client = new CodexClient();
  assert.equal(defaultExport, CodexClient);
  assert.ok(client instanceof EventEmitter);
});

test("connecting twice is connecting once, and disconnecting ends a handshake", async () => {
  const { client, server } = await connected();
  await Promise.all([client.connect(), client.connect()]);
  assert.equal(server.sent.length, 2);
  const silent = new CodexClient({ transport: new ScriptedTransport({ initialize: undefined as never }) });
  const connecting = silent.connect();
  await silent.disconnect();
  await assert.rejects(connecting, AbortedError);
});

test("requests are numbered from 0 and each answer finds its own", async () => {
  const { client, server } = await connected();
  const [a, b] = [client.threadLoadedList(), client.request("a/method/of/tomorrow", { x: 1 })];
  await until(() => server.sent.length === 4);
  assert.deepEqual(server.sent.slice(2).map((it) => it.id), [1, 2]);
  server.says({ id: 2, result: { y: 2 } });
  server.says({ id: 1, result: { data: [], nextCursor: null } });
  assert.deepEqual(await b, { y: 2 });
  assert.deepEqual(await a, { data: [], nextCursor: null });
});

test("a request that takes too long is given up, and its late answer does no harm", async () => {
  const { client, server } = await connected();
  const warnings: Error[] = [];
  client.on("warning", (error) => warnings.push(error));
  await assert.rejects(client.listModels({}, { timeoutMs: 1 }), TimeoutError);
  server.says({ id: 1, result: { data: [] } });
  assert.deepEqual(warnings, []);
  server.says({ id: 1, result: { data: [] } });
  assert.equal(warnings.length, 1);
});

test("an overloaded server is asked again", async () => {
  let asked = 0;
  const overloaded = { error: { code: -32001, message: "Server overloaded; retry later." } };
  const { client } = await connected({ "model/list": () => (++asked < 3 ? overloaded : { data: [] }) });
  assert.deepEqual(await client.listModels(), { data: [] });
  assert.equal(asked, 3);
});

test("a turn that fails rejects with the server's message", async () => {
  const { client, server } = await connected(started);
  const running = client.runTurn(params);
  const error = { message: "used up", codexErrorInfo: "usageLimitExceeded" };
  server.notifies("turn/completed", { threadId: "t", turn: turn("failed", error) });
  await assert.rejects(running, (it: TurnFailedError) => {
    assert.ok(it instanceof TurnFailedError);
    assert.deepEqual([it.message, it.code, it.data], ["used up", "TURN_FAILED", "usageLimitExceeded"]);
    return true;
  });
});

test("an abort interrupts the turn, before and after the server has accepted it", async () => {
  for (const early of [true, false]) {
    const { client, server } = await connected(early ? { "turn/interrupt": () => ({}) } : started);
    const abort = new AbortController();
    const running = client.runTurn(params, { signal: abort.signal });
    await until(() => server.last("turn/start") !== undefined);
    if (!early) await new Promise((resolve) => setImmediate(resolve));
    abort.abort("enough");
    await assert.rejects(running, (it: AbortedError) => it.name === "AbortError" && it.reason === "enough");
    if (early) server.says({ id: 1, result: { turn: turn("inProgress") } });
    await until(() => server.last("turn/interrupt") !== undefined);
    assert.deepEqual(server.last("turn/interrupt")?.params, about);
  }
});

test("a turn that takes too long is interrupted", async () => {
  const { client, server } = await connected(started, { turnTimeoutMs: 5 });
  await assert.rejects(client.runTurn(params), (it: TimeoutError) => it.method === "turn" && it.timeoutMs === 5);
  await until(() => server.last("turn/interrupt") !== undefined);
});

test("nothing is sent after an abort", async () => {
  const { client, server } = await connected(started);
  const signal = AbortSignal.abort();
  await assert.rejects(client.runTurn(params, { signal }), AbortedError);
  await assert.rejects(client.runReview({ threadId: "t", target: { type: "custom" } }, { signal }), AbortedError);
  await assert.rejects(client.listModels({}, { signal }), AbortedError);
  await assert.rejects(client.stream(params, { signal }).result(), AbortedError);
  assert.equal(server.sent.length, 2);
});

test("a stream has everything since the turn was started", async () => {
  const { client, server } = await connected({
    "turn/start": () => {
      server.notifies("turn/started", { threadId: "t", turn: turn("inProgress") });
      queueMicrotask(() => server.notifies("item/agentMessage/delta", { ...about, itemId: "i", delta: "a" }));
      return { turn: turn("inProgress") };
    },
  });
  const begun = await client.startTurn(params);
  server.notifies("turn/completed", { threadId: "t", turn: turn("completed") });
  const methods: string[] = [];
  for await (const event of client.stream(begun)) methods.push(event.method);
  assert.deepEqual(methods, ["turn/started", "item/agentMessage/delta", "turn/completed"]);
  for await (const event of client.stream(begun)) assert.fail(event.method);
});

test("leaving a stream early interrupts the turn that it started, and no other", async () => {
  const { client, server } = await connected(started);
  const hello = () => server.notifies("item/agentMessage/delta", { ...about, itemId: "i", delta: "a" });
  const begun = await client.startTurn(params);
  hello();
  for await (const event of client.stream(begun)) if (event.method === "item/agentMessage/delta") break;
  assert.equal(server.last("turn/interrupt"), undefined);
  const stream = client.stream(params);
  await stream.started;
  hello();
  for await (const event of stream) if (event.method === "item/agentMessage/delta") break;
  await until(() => server.last("turn/interrupt") !== undefined);
  await assert.rejects(stream.result(), AbortedError);
});

test("a stream that is not read is bounded, and its result is complete", async () => {
  const { client, server } = await connected(started, { feedLimits: { events: 10 } });
  const stream = client.stream(params);
  await stream.started;
  for (let i = 0; i < 1000; i++) {
    server.notifies("item/completed", { ...about, item: { type: "plan", id: `${i}`, text: "" } });
  }
  server.notifies("turn/completed", { threadId: "t", turn: turn("completed") });
  const events: TurnEvent[] = [];
  for await (const event of stream) events.push(event);
  assert.deepEqual(events[0], { method: "client/lagged", params: { missed: 991 } });
  assert.deepEqual([events.length, events.at(-1)?.method], [11, "turn/completed"]);
  assert.equal((await stream.result()).items.length, 1000);
});

test("questions are declined unless a handler answers, also when it throws", async () => {
  const ask = async (method: string, handlers: object) => {
    const { client, server } = await connected({}, { handlers });
    const warnings: Error[] = [];
    client.on("warning", (error) => warnings.push(error));
    server.says({ id: 7, method, params: { ...about, itemId: "i", callId: "c", tool: "x", arguments: {} } });
    await until(() => server.sent.length === 3);
    return { ...server.sent[2], warnings: warnings.length };
  };
  const command = "item/commandExecution/requestApproval";
  assert.deepEqual(await ask(command, {}), { id: 7, result: { decision: "decline" }, warnings: 0 });
  const accepts = { approveCommand: () => Promise.resolve("accept") };
  assert.deepEqual(await ask(command, accepts), { id: 7, result: { decision: "accept" }, warnings: 0 });
  const throws = () => {
    throw new Error("oops");
  };
  const thrown = await ask(command, { approveCommand: throws });
  assert.deepEqual(thrown, { id: 7, result: { decision: "decline" }, warnings: 1 });
  assert.deepEqual((await ask("item/tool/call", {})).result, {
    success: false,
    contentItems: [{ type: "inputText", text: "The client has no tool named `x`." }],
  });
  const unknown = { code: -32601, message: "this client does not know `x/y`" };
  assert.deepEqual((await ask("x/y", {})).error, unknown);
  assert.deepEqual((await ask("x/y", { answerUnknown: throws })).error, unknown);
  assert.deepEqual((await ask("x/y", { answerUnknown: () => [1] })).result, [1]);
  for (const method of ["item/fileChange/requestApproval", "mcpServer/elicitation/request", "applyPatchApproval"]) {
    assert.match(JSON.stringify((await ask(method, {})).result), /decline|denied/);
  }
});

test("a question that is settled elsewhere is not answered", async () => {
  let signal: AbortSignal | undefined;
  const approveCommand = (_: unknown, context: { signal: AbortSignal }) => {
    signal = context.signal;
    return new Promise<"accept">((resolve) => signal?.addEventListener("abort", () => resolve("accept")));
  };
  const { server } = await connected({}, { handlers: { approveCommand } });
  server.says({ id: "q", method: "item/commandExecution/requestApproval", params: about });
  await until(() => signal !== undefined);
  server.notifies("serverRequest/resolved", { threadId: "t", requestId: "q" });
  assert.equal(signal?.aborted, true);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(server.sent.length, 2);
});

test("tools are offered, run with checked arguments, and fail politely", async () => {
  const add = tool({
    name: "add",
    description: "Adds two numbers.",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }) => {
      if (a < 0) throw new Error("negative");
      return { sum: a + b };
    },
  });
  const { client, server } = await connected({ "thread/start": () => ({ thread: { id: "t" } }) }, { tools: [add] });
  await client.startThread();
  const { dynamicTools } = server.last("thread/start")?.params as { dynamicTools: unknown };
  assert.deepEqual(dynamicTools, [{ name: "add", description: add.description, inputSchema: add.inputSchema }]);
  const call = async (args: object) => {
    server.says({ id: 9, method: "item/tool/call", params: { ...about, callId: "c", tool: "add", arguments: args } });
    const before = server.sent.length;
    await until(() => server.sent.length > before);
    const { success, contentItems } = server.sent.at(-1)?.result as { success: boolean; contentItems: { text: string }[] };
    return [success, contentItems[0]?.text];
  };
  assert.deepEqual(await call({ a: 1, b: 2 }), [true, '{"sum":3}']);
  assert.deepEqual(await call({ a: -1, b: 2 }), [false, "negative"]);
  const [success, why] = await call({ a: "1", b: 2 });
  assert.deepEqual([success, /arguments.a must be of type number/.test(String(why))], [false, true]);
});

test("reviews without a branch or instructions are what servers take", async () => {
  const { client, server } = await connected({ "review/start": () => ({ turn: turn("inProgress"), reviewThreadId: "r" }) });
  const running = client.runReview({ threadId: "t", target: { type: "baseBranch" } });
  await until(() => server.last("review/start") !== undefined);
  assert.deepEqual(server.last("review/start")?.params, { threadId: "t", target: { type: "baseBranch", branch: "main" } });
  const item = { type: "exitedReviewMode", id: "i", review: "Fine." };
  server.notifies("item/completed", { threadId: "r", turnId: "u", item });
  server.notifies("turn/completed", { threadId: "r", turn: turn("completed") });
  assert.deepEqual(await running, { turn: turn("completed"), reviewText: "Fine." });
  await client.startReview({ threadId: "t", target: { type: "custom" } });
  assert.deepEqual(server.last("review/start")?.params, { threadId: "t", target: { type: "uncommittedChanges" } });
});

test("what the types do not know breaks nothing", async () => {
  const { client, server } = await connected(started);
  const seen: string[] = [];
  client.on("notification", ({ method }) => seen.push(method));
  const running = client.runTurn(params);
  server.notifies("thread/goal/updated", { goal: 1 });
  server.says({ method: "no/params" });
  server.notifies("turn/started", {});
  server.notifies("item/started", { ...about, item: { type: "tomorrow", id: "i", more: [1] } });
  server.notifies("item/completed", { ...about, item: { type: "tomorrow", id: "i", more: [1] } });
  server.notifies("turn/completed", { threadId: "t", turn: { ...turn("completed"), more: 1 } });
  assert.deepEqual((await running).items, [{ type: "tomorrow", id: "i", more: [1] }]);
  assert.equal(seen.length, 6);
});

test("events have the names and params of the protocol too", async () => {
  const { client, server } = await connected();
  const heard: unknown[] = [];
  client.once("thread/name/updated", ({ threadId }) => heard.push(threadId));
  client.on("turn/error", ({ error }) => heard.push(error.message));
  server.notifies("thread/name/updated", { threadId: "t", threadName: "n" });
  server.notifies("thread/name/updated", { threadId: "t", threadName: "n" });
  server.notifies("error", { ...about, error: { message: "retrying" }, willRetry: true });
  client.on("configWarning", ({ summary }) => heard.push(summary));
  server.notifies("configWarning", { summary: "a typo" });
  client.on("warning", () => heard.push("a notification is not an event of the connection"));
  server.notifies("warning", { message: "of tomorrow" });
  assert.deepEqual(heard, ["t", "retrying", "a typo"]);
});

/** The client against the real server, with its offline model, over standard streams and websockets. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { AbortedError, CodexClient, type CodexClientOptions, isItem, RefusedError, tool, TurnFailedError } from "../index.ts";
import { listener } from "./listener.ts";
import { next, noQuipu, quipu, scratch, script, test, until } from "./support.ts";

const skip = noQuipu;

/** Runs a test with a connected client of a server of its own. */
async function session(options: CodexClientOptions, run: (client: CodexClient, work: string) => Promise<void>) {
  using place = scratch();
  const client = new CodexClient(quipu(place, options));
  await client.connect();
  try {
    await run(client, place.work);
  } finally {
    await client.disconnect();
  }
}

test("a turn is streamed word by word", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    const stream = client.stream({ threadId, input: script({ deltas: ["Hel", "lo"] }) });
    const words: string[] = [];
    for await (const event of stream) if (event.method === "item/agentMessage/delta") words.push(event.params.delta);
    assert.deepEqual(words, ["Hel", "lo"]);
    const { agentMessage, usage, turn } = await stream.result();
    assert.deepEqual([agentMessage, turn.status], ["Hello", "completed"]);
    assert.ok((usage?.total.totalTokens ?? 0) > 0);
  }));

test("commands are approved or declined by the client", { skip }, async () => {
  for (const decision of ["accept", "decline"] as const) {
    const asked: string[] = [];
    const approveCommand = (request: { command?: string | null }) => {
      asked.push(request.command ?? "");
      return decision;
    };
    await session({ approvalPolicy: "unlessTrusted", handlers: { approveCommand } }, async (client, work) => {
      const { id: threadId } = await client.startThread();
      const calls = [{ name: "exec_command", arguments: { cmd: "touch made" } }];
      const { items } = await client.runTurn({ threadId, input: script({ calls }, { text: "done" }) });
      const command = items.find((item) => isItem(item, "commandExecution"));
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? "", /touch made/);
      assert.equal(command?.["status"], decision === "accept" ? "completed" : "declined");
      assert.equal(existsIn(work, "made"), decision === "accept");
    });
  }
});

test("a patch is a diff, and files are changed only if the client agrees", { skip }, () =>
  session({ approvalPolicy: "always", handlers: { approveFileChange: () => "accept" } }, async (client, work) => {
    const { id: threadId } = await client.startThread();
    const patch = "*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch";
    const { diff, agentMessage } = await client.runTurn({ threadId, input: script({ patch }, { text: "written" }) });
    assert.equal(agentMessage, "written");
    assert.match(diff ?? "", /\+hello/);
    assert.equal(readFileSync(join(work, "hello.txt"), "utf8"), "hello\n");
  }));

test("the model calls a tool of the client", { skip }, () => {
  const weather = tool({
    name: "weather",
    description: "Says how the weather is.",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }, { threadId }) => `It rains in ${city} (${threadId.length}).`,
  });
  return session({ tools: [weather] }, async (client) => {
    const { id: threadId } = await client.startThread();
    const calls = [{ name: "weather", arguments: { city: "Quito" } }, { name: "weather", arguments: { town: "Quito" } }];
    const { items } = await client.runTurn({ threadId, input: script({ calls }, { text: "done" }) });
    const outputs = items.filter((item) => isItem(item, "dynamicToolCall")).map((item) => item.contentItems?.[0]);
    const texts = outputs.map((output) => (output?.type === "inputText" ? output.text : "")).sort();
    assert.deepEqual(texts, [
      "It rains in Quito (36).",
      "The arguments of `weather` do not match its schema: arguments.city is missing.",
    ]);
  });
});

test("an abort ends the turn at the server, and the thread can go on", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    const abort = new AbortController();
    const ended = next(client, "turn:completed");
    client.once("item:agentMessage:delta", () => abort.abort());
    const slow = client.runTurn({ threadId, input: script({ deltas: 10_000, every: 20 }) }, { signal: abort.signal });
    await assert.rejects(slow, AbortedError);
    assert.equal((await ended)[0].status, "interrupted");
    assert.equal((await client.runTurn({ threadId, input: script({ text: "next" }) })).agentMessage, "next");
  }));

test("a turn is steered", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    const stream = client.stream({ threadId, input: script({ deltas: 20, every: 20 }) });
    const turn = await stream.started;
    assert.equal(await stream.steer([{ type: "text", text: "and this" }]), turn.id);
    const { items } = await stream.result();
    assert.equal(items.filter((item) => item.type === "userMessage").length, 2);
  }));

test("a turn that fails says why", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    const error = { code: "context_length_exceeded", message: "too long" };
    await assert.rejects(client.runTurn({ threadId, input: script({ error }) }), (it: TurnFailedError) => {
      assert.ok(it instanceof TurnFailedError);
      assert.equal(it.data, "contextWindowExceeded");
      return it.turn.status === "failed";
    });
  }));

test("threads are listed, read, resumed, forked, archived and compacted", { skip }, () =>
  session({}, async (client) => {
    const { id } = await client.startThread();
    await client.runTurn({ threadId: id, input: [{ type: "text", text: "hello" }] });
    const listed: string[] = [];
    for await (const thread of client.threads({ limit: 1 })) listed.push(thread.id);
    assert.deepEqual(listed, [id]);
    assert.equal((await client.readThread(id, true)).turns?.length, 1);
    assert.equal((await client.resumeThread(id)).id, id);
    const fork = await client.forkThread(id);
    assert.notEqual(fork.id, id);
    const compacted = next(client, "turn:completed");
    await client.compactThread(fork.id);
    await compacted;
    await client.archiveThread(id);
    await assert.rejects(client.resumeThread("no-thread"), RefusedError);
  }));

test("a review is run", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    const { turn, reviewText } = await client.runReview({ threadId, target: { type: "custom", instructions: "Look." } });
    assert.equal(turn.status, "completed");
    assert.notEqual(reviewText, "");
    const target = { type: "custom" as const, instructions: "Look." };
    const detached = await client.startReview({ threadId, delivery: "detached", target });
    assert.notEqual(detached.reviewThreadId, threadId);
    const beside = await client.runReview({ threadId, delivery: "detached", target });
    assert.deepEqual([beside.turn.status, beside.reviewText !== ""], ["completed", true]);
  }));

test("a command is run outside any thread", { skip }, () =>
  session({}, async (client, work) => {
    const result = await client.execCommand({ command: ["sh", "-c", "echo out; echo err >&2; exit 3"], cwd: work });
    assert.deepEqual(result, { exitCode: 3, stdout: "out\n", stderr: "err\n" });
  }));

test("twenty thousand deltas go through a stream in order", { skip }, () =>
  session({}, async (client) => {
    const { id: threadId } = await client.startThread();
    let length = 0;
    const stream = client.stream({ threadId, input: script({ deltas: 20_000, size: 8 }) });
    for await (const event of stream) {
      assert.notEqual(event.method, "client/lagged");
      if (event.method === "item/agentMessage/delta") length += event.params.delta.length;
    }
    assert.equal(length, 160_000);
    assert.equal((await stream.result()).agentMessage.length, 160_000);
  }));

test("a websocket needs the right token", { skip }, async () => {
  using place = scratch();
  const token = "0123456789abcdef0123456789abcdef";
  writeFileSync(join(place.home, "token"), token, { mode: 0o600 });
  const auth = ["--ws-auth", "capability-token", "--ws-token-file", join(place.home, "token")];
  const server = await listener(place, auth);
  try {
    const wrong = new CodexClient({ url: server.url, token: `${token}x` });
    await assert.rejects(wrong.connect(), /cannot connect/);
    const client = new CodexClient({ url: server.url, token, model: null });
    await client.connect();
    const { id: threadId } = await client.startThread({ cwd: place.work });
    const large = "é".repeat(100_000);
    const { agentMessage } = await client.runTurn({ threadId, input: script({ text: large }) });
    assert.equal(agentMessage, large);
    await client.disconnect();
  } finally {
    await server.end();
  }
});

test("a websocket is connected again, and what was in use goes on", { skip }, async () => {
  using place = scratch();
  const first = await listener(place);
  const client = new CodexClient({ url: first.url, model: null, reconnect: { firstDelayMs: 20, longestDelayMs: 100, attempts: 200 } });
  await client.connect();
  const { id: threadId } = await client.startThread({ cwd: place.work });
  await client.runTurn({ threadId, input: [{ type: "text", text: "hello" }] });
  const stream = client.stream({ threadId, input: script({ deltas: 10_000, every: 20 }) });
  for await (const event of stream) {
    if (event.method === "item/agentMessage/delta") {
      // The turn dies with its server; the next one finds it closed as interrupted, and the client learns it.
      await first.end();
      break;
    }
  }
  await assert.rejects(stream.result(), AbortedError);
  const [reconnecting, reconnected] = [next(client, "reconnecting"), next(client, "reconnected")];
  if (client.connected) await reconnecting;
  const waiting = client.runTurn({ threadId, input: script({ text: "again" }) });
  const second = await listener(place, [], first.port);
  try {
    await reconnected;
    assert.equal((await waiting).agentMessage, "again");
    await client.disconnect();
  } finally {
    await second.end();
  }
});

test("a turn that ends while the connection is broken is reported after it", { skip }, async () => {
  using place = scratch();
  const first = await listener(place);
  const client = new CodexClient({ url: first.url, model: null, reconnect: { firstDelayMs: 20, longestDelayMs: 100, attempts: 200 } });
  await client.connect();
  const { id: threadId } = await client.startThread({ cwd: place.work });
  const begun = next(client, "item:agentMessage:delta");
  const running = client.runTurn({ threadId, input: script({ deltas: 10_000, every: 20 }) });
  await begun;
  await first.end();
  const second = await listener(place, [], first.port);
  try {
    const { turn, items } = await running;
    assert.equal(turn.status, "interrupted");
    assert.ok(items.some((item) => item.type === "userMessage"));
    await client.disconnect();
  } finally {
    await second.end();
  }
});

test("a client that gives up says so to everyone who waits", { skip }, async () => {
  using place = scratch();
  const server = await listener(place);
  const client = new CodexClient({ url: server.url, model: null, reconnect: { firstDelayMs: 1, attempts: 2 } });
  await client.connect();
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  const { id: threadId } = await client.startThread({ cwd: place.work });
  const running = client.runTurn({ threadId, input: script({ hang: 100_000 }) });
  await next(client, "turn:started");
  await server.end();
  await assert.rejects(running, /websocket was closed/);
  await until(() => errors.length === 1);
  await assert.rejects(client.listModels(), /not connected/);
});

function existsIn(directory: string, name: string): boolean {
  try {
    readFileSync(join(directory, name));
    return true;
  } catch {
    return false;
  }
}

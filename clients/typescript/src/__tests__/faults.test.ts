/** Servers that misbehave and programs that end: nothing hangs, nothing grows, nothing stays behind. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { AbortedError, CodexClient, ExitedError, ProtocolError } from "../index.ts";
import { isAlive, next, noQuipu, PACKAGE, QUIPU, quipu, scratch, script, scripted, test, until } from "./support.ts";

const params = { threadId: "t", input: [{ type: "text" as const, text: "100000" }] };

test("a program that does not exist is named", async () => {
  const client = new CodexClient({ command: "no-such-program" });
  await assert.rejects(client.connect(), (it: ExitedError) => it instanceof ExitedError && /no-such-program/.test(it.message));
  assert.equal(client.connected, false);
});

test("a program that is not a server is an error with its last words", async () => {
  const args = ["-c", "echo I am a shell >&2; exit 7"];
  const client = new CodexClient({ command: "sh", args, stderr: "ignore" });
  await assert.rejects(client.connect(), (it: ExitedError) => {
    assert.deepEqual([it.exitCode, it.stderr], [7, "I am a shell\n"]);
    return it instanceof ExitedError;
  });
});

test("a server that exits leaves its last words in every error", async () => {
  const client = scripted("exit");
  await client.connect();
  const failed = next(client, "error");
  const running = client.runTurn(params);
  await assert.rejects(client.listModels(), (it: ExitedError) => it.exitCode === 3 && /my last words/.test(it.message));
  await assert.rejects(running, ExitedError);
  assert.ok((await failed)[0] instanceof ExitedError);
  await client.disconnect();
});

test("garbage between messages is skipped and reported", async () => {
  const client = scripted("garbage");
  const warnings: Error[] = [];
  client.on("warning", (error) => warnings.push(error));
  await client.connect();
  assert.deepEqual(await client.threadLoadedList(), { data: [], nextCursor: null });
  assert.ok(warnings.length >= 8);
  assert.ok(warnings.every((error) => error instanceof ProtocolError));
  await client.disconnect();
});

test("a line of 50 MB is a message like any other", async () => {
  const client = scripted("long");
  await client.connect();
  const { data } = await client.threadLoadedList();
  assert.equal(data[0]?.length, 50 * 1024 * 1024);
  await client.disconnect();
});

test("a slow reader neither holds up the connection nor makes it grow", async () => {
  const client = scripted("flood", { feedLimits: { events: 1000 } });
  await client.connect();
  const stream = client.stream(params);
  const { turn } = await stream.result();
  assert.equal(turn.status, "completed");
  const events: string[] = [];
  for await (const event of stream) {
    events.push(event.method === "client/lagged" ? `missed ${event.params.missed}` : event.method);
  }
  assert.deepEqual([events[0], events.length, events.at(-1)], ["missed 99001", 1001, "turn/completed"]);
  await client.disconnect();
});

test("a fast reader misses nothing", async () => {
  const client = scripted("flood");
  await client.connect();
  let deltas = 0;
  for await (const event of client.stream(params)) {
    assert.notEqual(event.method, "client/lagged");
    if (event.method === "item/agentMessage/delta") deltas += 1;
  }
  assert.equal(deltas, 100_000);
  await client.disconnect();
});

test("after disconnect the server and its descendants are gone", async () => {
  for (const mode of ["ends", "stays", "inherits"]) {
    const client = scripted(mode, { shutdownMs: 100 });
    await client.connect();
    const { pids } = (await client.request("process/list")) as { pids: number[] };
    assert.deepEqual(pids.map(isAlive), [true, true]);
    const pending = client.runTurn(params);
    await client.disconnect();
    assert.deepEqual(pids.map(isAlive), [false, false], mode);
    await assert.rejects(pending, ExitedError);
    await client.disconnect();
  }
});

test("a handshake that is aborted leaves nothing behind", async () => {
  const client = new CodexClient({ command: "sleep", args: ["1000"], shutdownMs: 10 });
  const abort = new AbortController();
  const connecting = client.connect({ signal: abort.signal });
  abort.abort();
  await assert.rejects(connecting, AbortedError);
});

/** Runs a program that connects, prints the processes that it started, and ends in some way. */
async function embedding(ending: string): Promise<{ pids: number[]; code: number | null; stderr: string }> {
  using place = scratch();
  const isDeno = "Deno" in globalThis;
  const entry = import.meta.url.endsWith(".ts") ? "src/index.ts" : "build/index.js";
  const program = join(place.work, "program.mjs");
  const server = JSON.stringify(join(PACKAGE, "src/__tests__/scripted-server.mjs"));
  writeFileSync(
    program,
    `import process from "node:process";
     import { CodexClient } from ${JSON.stringify(pathToFileURL(join(PACKAGE, entry)).href)};
     const args = [${isDeno ? '"run", "-A", ' : ""}${server}, "stays"];
     const client = new CodexClient({ command: process.execPath, args, stderr: "ignore", shutdownMs: 100 });
     await client.connect();
     const { pids } = await client.request("process/list");
     process.stdout.write(JSON.stringify(pids) + "\\n", () => { ${ending} });
     await new Promise(() => setInterval(() => {}, 1000));`,
  );
  const child = spawn(process.execPath, [...(isDeno ? ["run", "-A"] : []), program], { stdio: "pipe" });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece) => (stdout += String(piece)));
  child.stderr.on("data", (piece) => (stderr += String(piece)));
  const [code] = (await once(child, "exit")) as [number | null];
  assert.match(stdout, /^\[/, stderr);
  return { pids: JSON.parse(stdout) as number[], code, stderr };
}

test("when the program ends, the server and its descendants are gone", async () => {
  for (const ending of ["process.exit(0)", "throw new Error('oops')"]) {
    const { pids } = await embedding(ending);
    await until(() => !pids.some(isAlive));
  }
});

test("a call that fails unheard is not an unhandled rejection", async () => {
  const calls = `
    client.runTurn({ threadId: "t", input: [] });
    client.listModels({}, { timeoutMs: 1 });
    client.startTurn({ threadId: "t", input: [] }, { signal: AbortSignal.timeout(1) });
    client.stream({ threadId: "t", input: [] });
    client.startThread();
    client.runReview({ threadId: "t", target: { type: "custom" } });
    setTimeout(() => client.disconnect().then(() => process.exit(5)), 20);`;
  const { code, stderr } = await embedding(calls);
  assert.deepEqual([code, stderr], [5, ""]);
});

test("a real server that is killed in a turn is an error, and its command does not survive", { skip: noQuipu }, async () => {
  using place = scratch();
  const client = new CodexClient(quipu(place));
  await client.connect();
  const { id: threadId } = await client.startThread();
  const calls = [{ name: "exec_command", arguments: { cmd: "echo $$; sleep 1000", yield_time_ms: 60_000 } }];
  const output = next(client, "item:commandExecution:outputDelta");
  const running = client.runTurn({ threadId, input: script({ calls }, { text: "done" }) });
  await output;
  const pids = servers();
  process.kill(pids[0] as number, "SIGKILL");
  await assert.rejects(running, (it: ExitedError) => it instanceof ExitedError && it.signal === "SIGKILL");
  await client.disconnect();
  await until(() => !pids.some(isAlive));
});

/** The servers that this process started and their descendants, servers first. */
function servers(): number[] {
  const stat = (pid: string) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      return text.slice(text.lastIndexOf(") ") + 2).split(" ");
    } catch {
      return [];
    }
  };
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => [Number(pid), Number(stat(pid)[1])]);
  const found = all.filter(([pid, parent]) => parent === process.pid && isServer(pid as number)).map(([pid]) => pid as number);
  for (const pid of found) found.push(...all.filter(([, parent]) => parent === pid).map(([child]) => child as number));
  return found;

  function isServer(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(QUIPU ?? "quipu");
    } catch {
      return false;
    }
  }
}

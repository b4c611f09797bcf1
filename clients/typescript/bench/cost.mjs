// What the client costs over a pipe, beside a loop that is written by hand: one call, one event, and a stream of
// 20,000 deltas. Prints the figures as JSON. Arguments: the number of calls and of events.
import { spawn } from "node:child_process";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { CodexClient } from "../dist/index.js";

const [calls, events] = process.argv.slice(2).map(Number);
const DELTAS = 20_000;
const peer = fileURLToPath(new URL("peer.mjs", import.meta.url));

/** The microseconds that it takes, by the clock and of the processor. */
async function time(work) {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { wall: (performance.now() - start) * 1000, cpu: user + system };
}

const input = (count) => [{ type: "text", text: String(count) }];

async function withClient() {
  const client = new CodexClient({ command: process.execPath, args: [peer], feedLimits: { events: 1e6 } });
  await client.connect();
  const call = await time(async () => {
    for (let i = 0; i < calls; i++) await client.threadLoadedList();
  });
  let heard = 0;
  client.on("item:agentMessage:delta", () => (heard += 1));
  const event = await time(() => client.runTurn({ threadId: "t", input: input(events) }));
  let streamed = 0;
  const stream = await time(async () => {
    for await (const { method } of client.stream({ threadId: "t", input: input(DELTAS) })) {
      if (method === "item/agentMessage/delta") streamed += 1;
    }
  });
  await client.disconnect();
  if (heard !== events + DELTAS || streamed !== DELTAS) throw new Error(`${heard} and ${streamed} events came`);
  return { call, event, stream };
}

async function byHand() {
  const child = spawn(process.execPath, [peer], { stdio: ["pipe", "pipe", "inherit"] });
  let rest = "";
  let take = () => {};
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines) take(JSON.parse(line));
  });
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const until = (isLast) => new Promise((resolve) => (take = (message) => isLast(message) && resolve()));
  const call = await time(async () => {
    for (let id = 0; id < calls; id++) {
      const answered = until((message) => message.id === id);
      send({ id, method: "thread/loaded/list", params: {} });
      await answered;
    }
  });
  let heard = 0;
  const event = await time(async () => {
    const ended = until(({ method }) => {
      if (method === "item/agentMessage/delta") heard += 1;
      return method === "turn/completed";
    });
    send({ id: -1, method: "turn/start", params: { threadId: "t", input: input(events) } });
    await ended;
  });
  child.stdin.end();
  if (heard !== events) throw new Error(`${heard} events came`);
  return { call, event };
}

const [client, hand] = [await withClient(), await byHand()];
const figures = (mine, other, count) => [mine.wall / count, other.wall / count, (mine.cpu - other.cpu) / count];
const [call, event] = [figures(client.call, hand.call, calls), figures(client.event, hand.event, events)];
console.log(JSON.stringify([...call, ...event, client.stream.wall / 1000]));

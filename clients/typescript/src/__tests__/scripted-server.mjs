// A server on standard input and output that misbehaves as its argument says. It needs nothing but the platform.
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";

const mode = process.argv[2];
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const turn = (status) => ({ id: "u", items: [], status, error: null });

function floods(count) {
  const delta = { threadId: "t", turnId: "u", itemId: "i", delta: "a few words of text" };
  const line = `${JSON.stringify({ method: "item/agentMessage/delta", params: delta })}\n`;
  for (let sent = 0; sent < count; sent += 100) process.stdout.write(line.repeat(100));
  say({ method: "turn/completed", params: { threadId: "t", turn: turn("completed") } });
}

const answers = {
  initialize: () => ({ userAgent: "scripted/0.118.0" }),
  "thread/loaded/list": () => ({ data: mode === "long" ? ["x".repeat(50 * 1024 * 1024)] : [], nextCursor: null }),
  "turn/start": (params) => {
    if (mode === "flood") setImmediate(() => floods(Number(params.input[0].text)));
    return { turn: turn("inProgress") };
  },
  "turn/interrupt": () => ({}),
  "model/list": () => {
    if (mode !== "exit") return { data: [] };
    process.stderr.write("these are my last words\n", () => process.exit(3));
    return undefined;
  },
  "process/list": () => {
    // A descendant that leaves the process group, and one that also closes everything it inherited.
    const child = spawn("sleep", ["1000"], { detached: true, stdio: mode === "inherits" ? "inherit" : "ignore" });
    child.unref();
    return { pids: [process.pid, child.pid] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (mode === "garbage") process.stdout.write(Buffer.from("not JSON\n\n[1]\n{\"a\":\xff}\n42\nnull\n", "latin1"));
  const result = answers[method]?.(params);
  if (id !== undefined && result !== undefined) say({ id, result });
}
if (mode === "stays" || mode === "inherits") setInterval(() => {}, 1000);

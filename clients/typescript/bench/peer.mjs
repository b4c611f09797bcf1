// A server that costs next to nothing: it answers at once, and says a turn of many deltas.
import process from "node:process";

const BATCH = 64;
const ids = { threadId: "t", turnId: "u", itemId: "i" };
const delta = `${JSON.stringify({ method: "item/agentMessage/delta", params: { ...ids, delta: "a few words of text" } })}\n`;
const turn = (status) => ({ id: "u", items: [], status, error: null });

function answer({ id, method, params }) {
  const results = {
    initialize: { userAgent: "peer/0.118.0 (bench)" },
    "thread/loaded/list": { data: [], nextCursor: null },
    "turn/start": { turn: turn("inProgress") },
  };
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ id, result: results[method] })}\n`);
  if (method !== "turn/start") return;
  const count = Number(params.input[0].text);
  for (let sent = 0; sent < count; sent += BATCH) process.stdout.write(delta.repeat(Math.min(BATCH, count - sent)));
  process.stdout.write(`${JSON.stringify({ method: "turn/completed", params: { threadId: "t", turn: turn("completed") } })}\n`);
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});

/** The real server that is installed: `codex`, or `quipu` in its place. Skipped where there is neither. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { CodexClient } from "../index.ts";
import { QUIPU, quipu, type Scratch, scratch, test, without } from "./support.ts";

/** A `codex` in `PATH` that starts; it needs a key or a login for turns. */
function installed(): string | undefined {
  try {
    execFileSync("codex", ["--version"], { stdio: "ignore" });
    return "codex";
  } catch {
    return undefined;
  }
}

const command = QUIPU ?? installed();
const skip = without(command, "neither quipu nor codex is here");
const options = (place: Scratch) => (QUIPU ? quipu(place) : { command: "codex", cwd: place.work });

test("connect and list models", { skip }, async () => {
  using place = scratch();
  const client = new CodexClient(options(place));
  await client.connect();
  const { data } = await client.listModels();
  assert.ok(data.length > 0);
  assert.ok(data.every((model) => model.id !== "" && model.displayName !== ""));
  await client.disconnect();
});

test("start thread and run a simple turn", { skip }, async () => {
  using place = scratch();
  const client = new CodexClient(options(place));
  await client.connect();
  const thread = await client.startThread({});
  const input = [{ type: "text" as const, text: "echo hello world" }];
  const { agentMessage, turn, items } = await client.runTurn({ threadId: thread.id, input });
  assert.equal(turn.status, "completed");
  assert.notEqual(agentMessage, "");
  assert.ok(items.some((item) => item.type === "userMessage"));
  await client.disconnect();
});

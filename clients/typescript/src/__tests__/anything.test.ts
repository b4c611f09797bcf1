/** A server that says anything at all: the client goes on, and answers every request once. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { connected, PACKAGE, test } from "./support.ts";

/** Every method that servers know, as the generated types list them. */
const METHODS = [...readFileSync(join(PACKAGE, "src/generated/protocol.ts"), "utf8").matchAll(/^ {2}"([\w/]+)": /gm)];

const name = fc.constantFrom(...METHODS.map(([, method = ""]) => method), "a/method/of/tomorrow", "", "warning");
const key = fc.constantFrom("threadId", "turnId", "turn", "item", "id", "requestId", "delta", "error", "tool", "thread");
const member = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("t", "u"), fc.constant({ id: "u" }));
const params = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(key, member));
const message = fc.oneof(
  fc.record({ method: name, params }),
  fc.record({ method: name, params, id: fc.oneof(fc.integer({ min: 1000 }), fc.string()) }),
  fc.record({ id: fc.oneof(fc.integer({ min: 1000 }), fc.constant(null)), result: params, error: params }),
  fc.jsonValue({ maxDepth: 2 }),
);

test("whatever a server says, the client goes on", async () => {
  assert.ok(METHODS.length > 100);
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (messages) => {
      const turn = { id: "u", items: [], status: "inProgress", error: null };
      const { client, server } = await connected({ "turn/start": () => ({ turn }), "model/list": () => ({ data: [] }) });
      const running = client.runTurn({ threadId: "t", input: [] });
      const asked = new Set<unknown>();
      for (const message of messages) {
        const { id, method } = (message ?? {}) as { id?: unknown; method?: unknown };
        if (typeof method === "string" && id !== undefined) asked.add(id);
        server.says(message);
      }
      assert.deepEqual(await client.listModels(), { data: [] });
      server.notifies("turn/completed", { threadId: "t", turn: { ...turn, status: "completed" } });
      await running.catch(() => {});
      await new Promise((resolve) => setImmediate(resolve));
      const answered = server.sent.filter((it) => it.method === undefined).map((it) => it.id);
      assert.equal(new Set(answered).size, answered.length);
      for (const id of answered) assert.ok(asked.has(id));
      await client.disconnect();
    }),
    { numRuns: 500 },
  );
});

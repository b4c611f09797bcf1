/** A thread, a turn, its words as they come. Run it with `npx bun examples/hello.ts`. */

import { CodexClient } from "@quipu/client";

// Starts `quipu app-server`, whose offline model needs no key. `model: null` leaves the model to the server.
const client = new CodexClient({ command: process.argv[2] ?? "quipu", model: null });
await client.connect();

const { id: threadId } = await client.startThread();
const stream = client.stream({ threadId, input: [{ type: "text", text: "What can you do?" }] });
for await (const event of stream) {
  if (event.method === "item/agentMessage/delta") process.stdout.write(event.params.delta);
}

const { turn, usage } = await stream.result();
console.log(`\n\nThe turn ${turn.status} after ${usage?.total.totalTokens ?? 0} tokens.`);
await client.disconnect();

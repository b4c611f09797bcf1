/** A chat in the terminal; Ctrl-C interrupts an answer, or ends the chat. Run it with `npx bun examples/chat.ts`. */

import { createInterface } from "node:readline/promises";

import { CodexClient, TurnFailedError } from "@quipu/client";

await using client = new CodexClient({
  command: process.argv[2] ?? "quipu",
  model: null,
  approvalPolicy: "on-request",
  handlers: {
    approveCommand: async ({ command, reason }, { signal }) => {
      const answer = await lines.question(`\nRun ${command}? ${reason ?? ""} [y/N] `, { signal });
      return answer.trim() === "y" ? "accept" : "decline";
    },
  },
});
await client.connect();
const { id: threadId } = await client.startThread();

let running: AbortController | undefined;
const lines = createInterface({ input: process.stdin, output: process.stdout });
lines.on("SIGINT", () => (running ? running.abort() : lines.close()));
process.stdout.write("> ");
for await (const text of lines) {
  running = new AbortController();
  try {
    const stream = client.stream({ threadId, input: [{ type: "text", text }] }, { signal: running.signal });
    for await (const event of stream) {
      if (event.method === "item/agentMessage/delta") process.stdout.write(event.params.delta);
      if (event.method === "item/started" && event.params.item.type === "commandExecution") {
        console.log(`$ ${event.params.item.command}`);
      }
    }
    await stream.result();
  } catch (error) {
    if (running.signal.aborted) process.stdout.write(" (interrupted)");
    else if (error instanceof TurnFailedError) console.error(error.message);
    else throw error;
  }
  running = undefined;
  process.stdout.write("\n> ");
}

/** Deciding which commands may run and which files may change. Run it with `npx bun examples/approvals.ts`. */

import { CodexClient, isItem } from "@quipu/client";

// For the offline model a prompt can be a script; a real model would get words.
const PROMPT = JSON.stringify({
  script: [
    { calls: [{ name: "exec_command", arguments: { cmd: "touch allowed.txt" } }] },
    { calls: [{ name: "exec_command", arguments: { cmd: "rm -rf build" } }] },
    { text: "I made a file and was kept from removing a directory." },
  ],
});

await using client = new CodexClient({
  command: process.argv[2] ?? "quipu",
  model: null,
  approvalPolicy: "unlessTrusted",
  handlers: {
    approveCommand: ({ command }) => {
      const decision = command?.includes("rm ") ? "decline" : "accept";
      console.log(`${decision}: ${command}`);
      return decision;
    },
    approveFileChange: () => "decline",
  },
});
await client.connect();

const { id: threadId } = await client.startThread();
const { items, agentMessage } = await client.runTurn({ threadId, input: [{ type: "text", text: PROMPT }] });
for (const item of items) {
  if (isItem(item, "commandExecution")) console.log(`${item.status}: ${item.command}`);
}
console.log(agentMessage);

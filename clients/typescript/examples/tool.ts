/** A tool of this program that the model can call. Run it with `npx bun examples/tool.ts`. */

import { CodexClient, tool } from "@quipu/client";

const weather = tool({
  name: "weather",
  description: "Says how the weather is in a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
    required: ["city"],
    additionalProperties: false,
  },
  // The types of `city` and `unit` come from the schema. Other arguments never get here.
  run: ({ city, unit = "celsius" }) => `It has ${unit === "celsius" ? 14 : 57} degrees in ${city}.`,
});

// For the offline model a prompt can be a script; a real model would get words.
const PROMPT = JSON.stringify({
  script: [{ calls: [{ name: "weather", arguments: { city: "Quito" } }] }, { text: "Take a coat." }],
});

await using client = new CodexClient({ command: process.argv[2] ?? "quipu", model: null, tools: [weather] });
client.on("item/completed", ({ item }) => {
  if (item.type === "dynamicToolCall") console.log(`${item.tool}:`, item.contentItems);
});
await client.connect();

const { id: threadId } = await client.startThread();
const { agentMessage } = await client.runTurn({ threadId, input: [{ type: "text", text: PROMPT }] });
console.log(agentMessage);

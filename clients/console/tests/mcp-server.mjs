// A small MCP server for the tests: one tool that answers with text and an image, and one that asks the user first.
import { createInterface } from "node:readline";
import process from "node:process";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const schema = { type: "object", properties: {} };
const annotations = { readOnlyHint: true };
let asked;

const calls = {
  draw: (id) =>
    send({
      id,
      result: {
        content: [
          { type: "text", text: "<b>a pixel</b>" },
          { type: "image", data: PIXEL, mimeType: "image/png" },
        ],
      },
    }),
  ask: (id) => {
    asked = id;
    const requestedSchema = {
      type: "object",
      properties: { name: { type: "string", title: "Name" }, count: { type: "integer", title: "Count" } },
      required: ["name"],
    };
    send({ id: "question", method: "elicitation/create", params: { message: "Who are you?", requestedSchema } });
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "test", version: "1" },
      },
    });
  else if (method === "tools/list")
    send({
      id,
      result: {
        tools: Object.keys(calls).map((name) => ({ name, description: name, inputSchema: schema, annotations })),
      },
    });
  else if (method === "tools/call") calls[params.name](id);
  else if (id === "question")
    send({
      id: asked,
      result: { content: [{ type: "text", text: `${result.action}: ${JSON.stringify(result.content)}` }] },
    });
  else if (id !== undefined) send({ id, result: {} });
});

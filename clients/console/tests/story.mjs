// A model for the screenshots: it tells stories in the Responses format over HTTP. Which step comes next is told by how
// many tools have answered.
import { once } from "node:events";
import { createServer } from "node:http";

const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

/** The items of one answer as events. */
function answer(number, { reasoning, text, call, patch }) {
  const id = `answer-${number}`;
  const items = [
    reasoning && { type: "reasoning", id: `${id}-r`, summary: [{ type: "summary_text", text: reasoning }] },
    text && { type: "message", id: `${id}-m`, role: "assistant", content: [{ type: "output_text", text }] },
    call && {
      type: "function_call",
      id: `${id}-c`,
      call_id: `${id}-c`,
      name: call[0],
      arguments: JSON.stringify(call[1]),
    },
    patch && { type: "custom_tool_call", id: `${id}-p`, call_id: `${id}-p`, name: "apply_patch", input: patch },
  ].filter(Boolean);
  const usage = {
    input_tokens: 2100 + 900 * number,
    input_tokens_details: { cached_tokens: 1800 },
    output_tokens: 180 + 40 * number,
    output_tokens_details: { reasoning_tokens: 60 },
    total_tokens: 2280 + 940 * number,
  };
  return [
    event("response.created", { response: { id } }),
    ...items.map((item) => event("response.output_item.done", { item })),
    event("response.completed", { response: { id, usage } }),
  ].join("");
}

/** Serves stories: the steps by a word of the prompt. */
export async function tell(stories) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += String(piece)));
    request.on("end", () => {
      const told = Object.entries(stories).find(([word]) => body.includes(word));
      if (request.method !== "POST" || !told) return response.writeHead(404).end();
      const number = JSON.parse(body).input.filter(({ type }) => /_output$/.test(type)).length;
      response.writeHead(200, { "content-type": "text/event-stream" });
      return response.end(answer(number, told[1][number] ?? told[1].at(-1)));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const config = `model = "story-1"\nmodel_provider = "story"\n\n[model_providers.story]\nname = "Story"\nbase_url = "http://127.0.0.1:${server.address().port}/v1"\nwire_api = "responses"\n`;
  return { config, end: () => (server.closeAllConnections(), server.close()) };
}

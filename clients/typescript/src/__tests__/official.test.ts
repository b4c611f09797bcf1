/**
 * Official servers, if the tester has them: give the programs' paths in `QUIPU_TEST_CODEX`, separated by colons.
 * They speak to a scripted model on loopback and never leave the machine.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";

import { CodexClient, type CodexClientOptions, isItem, tool } from "../index.ts";
import { type Scratch, scratch, script, test } from "./support.ts";

const PROGRAMS = (process.env["QUIPU_TEST_CODEX"] ?? "").split(delimiter).filter((path) => path !== "");

interface Call {
  name: string;
  arguments: object;
}

interface Step {
  text?: string;
  deltas?: string[];
  calls?: Call[];
  stall?: boolean;
}

interface Asked {
  input: { type: string; content?: { text?: string }[] }[];
  tools: { name?: string }[];
}

/** A model that plays the script of the last prompt that has one; it says `ok` to anything else. */
class Model {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (piece) => (body += String(piece)));
      request.on("end", () => {
        if (request.method !== "POST") return response.writeHead(404).end();
        const asked = JSON.parse(body) as Asked;
        this.asked.push(asked);
        response.writeHead(200, { "content-type": "text/event-stream" });
        const step = this.#step(asked);
        for (const event of events(step)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        return step.stall ? undefined : response.end();
      });
    });
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** A call of whichever tool for commands the server offers. */
  shell(command: string): Call {
    const names = new Set(this.asked[0]?.tools.map((it) => it.name));
    const escalated = { sandbox_permissions: "require_escalated", justification: "to see" };
    if (names.has("exec_command")) return { name: "exec_command", arguments: { cmd: command, ...escalated } };
    if (names.has("shell_command")) return { name: "shell_command", arguments: { command, ...escalated } };
    return { name: "shell", arguments: { command: ["bash", "-c", command], ...escalated } };
  }

  #step({ input }: Asked): Step {
    const said = input.map(({ content }) => (content ?? []).map((part) => part.text ?? "").join("\n"));
    const at = said.findLastIndex((it) => it.includes('{"script":'));
    if (at < 0 || at < said.findLastIndex((it) => it.startsWith("hello"))) return { text: "ok" };
    const text = said[at] ?? "";
    const { script: steps } = JSON.parse(text.slice(text.indexOf('{"script":'), text.lastIndexOf("}") + 1)) as { script: Step[] };
    const answered = input.slice(at).filter(({ type }) => type === "function_call_output").length;
    return steps[Math.min(answered, steps.length - 1)] ?? {};
  }
}

/** What a provider sends for a step. */
function events({ text, deltas, calls = [], stall }: Step): { type: string }[] {
  const id = `resp_${crypto.randomUUID()}`;
  const whole = text ?? deltas?.join("");
  const message = { type: "message", role: "assistant", id: `msg_${id}`, content: [{ type: "output_text", text: whole }] };
  const said = (deltas ?? []).map((delta) => ({ type: "response.output_text.delta", item_id: message.id, delta }));
  const added = { type: "response.output_item.added", item: { ...message, content: [] } };
  const items = calls.map((call, at) => ({
    type: "function_call",
    id: `fc_${id}_${at}`,
    call_id: `call_${id}_${at}`,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  const done = [...(whole === undefined ? [] : [message]), ...items].map((item) => ({ type: "response.output_item.done", item }));
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: null, output_tokens_details: null };
  const end = stall ? [] : [{ type: "response.completed", response: { id, usage } }];
  return [{ type: "response.created", ...{ response: { id } } }, ...(whole === undefined ? [] : [added]), ...said, ...done, ...end];
}

const weather = tool({
  name: "weather",
  description: "Says how the weather is.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => `It rains in ${city}.`,
});

function options(command: string, { home, work }: Scratch): CodexClientOptions {
  return {
    command,
    cwd: work,
    env: { CODEX_HOME: home, HOME: home, OPENAI_API_KEY: undefined },
    stderr: "ignore",
    model: null,
    approvalPolicy: "on-request",
    handlers: { approveCommand: () => "accept" },
    tools: [weather],
  };
}

for (const program of PROGRAMS) {
  test(`${program} is understood`, async () => {
    using place = scratch();
    const model = new Model();
    const provider = `name = "scripted"\nbase_url = "${await model.listen()}"\nwire_api = "responses"\n`;
    const config = `model = "scripted-model"\nmodel_provider = "scripted"\n[model_providers.scripted]\n${provider}`;
    writeFileSync(join(place.home, "config.toml"), `${config}request_max_retries = 0\nstream_max_retries = 0\n`);
    const first = new CodexClient(options(program, place));
    await first.connect();
    assert.match(first.server.userAgent ?? "", /openclaw/);
    assert.ok((await first.listModels()).data.length > 0);
    const { id: threadId } = await first.startThread();
    const hello = { threadId, input: [{ type: "text" as const, text: "hello" }] };
    assert.equal((await first.runTurn(hello)).agentMessage, "ok");

    const calls = [model.shell("touch approved")];
    const weatherCall = { name: "weather", arguments: { city: "Quito" } };
    const steps = script({ calls }, { calls: [weatherCall] }, { deltas: ["do", "ne"] });
    const words: string[] = [];
    const stream = first.stream({ threadId, input: steps });
    for await (const event of stream) if (event.method === "item/agentMessage/delta") words.push(event.params.delta);
    const { items } = await stream.result();
    assert.equal(words.join(""), "done");
    assert.ok(items.some((item) => isItem(item, "commandExecution") && item.status === "completed"));
    assert.ok(existsSync(join(place.work, "approved")));
    assert.match(JSON.stringify(model.asked.at(-1)), /It rains in Quito/);

    const abort = new AbortController();
    const before = model.asked.length;
    const ended = new Promise<string>((resolve) => first.once("turn:completed", ({ status }) => resolve(status)));
    const stalled = first.runTurn({ threadId, input: script({ text: "…", stall: true }) }, { signal: abort.signal });
    while (model.asked.length === before) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await assert.rejects(stalled, { name: "AbortError" });
    assert.equal(await ended, "interrupted");
    await first.disconnect();

    for (const policy of ["never", "unlessTrusted", "always"] as const) {
      const second = new CodexClient({ ...options(program, place), approvalPolicy: policy });
      await second.connect();
      assert.ok(((await second.resumeThread(threadId)).turns?.length ?? 0) >= 3);
      assert.equal((await second.runTurn({ ...hello, sandboxPolicy: { type: "workspaceWrite", writableRoots: [], networkAccess: false } })).agentMessage, "ok");
      await second.disconnect();
    }

    const third = new CodexClient({ ...options(program, place), approvalPolicy: "never" });
    await third.connect();
    await third.resumeThread(threadId);
    const instructions = script({ text: "Nothing to complain about." })[0]?.text ?? "";
    const { reviewText } = await third.runReview({ threadId, target: { type: "custom", instructions } });
    assert.match(reviewText, /Nothing to complain about/);
    const { stdout } = await third.execCommand({ command: ["echo", "hello"], sandboxPolicy: { type: "dangerFullAccess" } });
    assert.equal(stdout, "hello\n");
    await third.disconnect();
    model.close();
  });
}

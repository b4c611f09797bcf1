// What programs do with the official SDK, each thing once. Arguments: the program, a home, a workspace, the
// address of a model.
import { Codex } from "@openai/codex-sdk";

const [program, home, work, baseUrl] = process.argv.slice(2);
const env = { PATH: process.env.PATH, HOME: home };
const codex = (more = {}) => new Codex({ codexPathOverride: program, env, ...more });
const told = (name, value) => console.log(JSON.stringify([name, value]));
const script = (...steps) => JSON.stringify({ script: steps });
const command = (cmd) => ({ calls: [{ name: "exec_command", arguments: { cmd, login: false } }] });
const caught = (promise) => promise.then(() => "no error", (error) => error);

// Start, streamed, in a directory, with a sandbox that lets it write.
const options = { workingDirectory: `${work}`, sandboxMode: "workspace-write" };
const thread = codex().startThread(options);
const { events } = await thread.runStreamed(script(command("mkdir sub && touch sub/allowed"), { text: "done" }));
const seen = [];
for await (const event of events) {
  seen.push([event.type, event.item?.type, event.item?.status].filter(Boolean).join(" "));
}
told("streamed", seen);

// The same thread, with a schema for its answer.
const outputSchema = {
  type: "object", properties: { a: { type: "integer" } }, required: ["a"], additionalProperties: false,
};
const turn = await thread.run(script({ text: '{"a":1}' }), { outputSchema });
told("schema", { answer: JSON.parse(turn.finalResponse), tokens: turn.usage.output_tokens > 0 });

// Another process resumes it.
const resumed = codex().resumeThread(thread.id, options);
const again = await resumed.run(script({ text: "again" }));
told("resumed", { answer: again.finalResponse, same: resumed.id === thread.id });

// A sandbox that does not let it write.
const readOnly = codex().startThread({ ...options, sandboxMode: "read-only" });
const tried = await readOnly.run(script(command("touch forbidden"), { text: "tried" }));
told("sandboxed", tried.items.find((item) => item.type === "command_execution").status);

// An image, a model and its effort, configuration, a directory that is no repository.
await readOnly.run([{ type: "text", text: "look" }, { type: "local_image", path: `${work}/image.png` }]);
const modelled = { ...options, workingDirectory: "/", skipGitRepoCheck: true };
await codex().startThread({ ...modelled, model: "gpt-5.4", modelReasoningEffort: "high" }).run("hi");
await codex({ config: { model: "of-the-config" } }).startThread(modelled).run("hi");

// A key and an address of the SDK's own.
const own = codex({ apiKey: "sk-of-the-sdk", baseUrl, config: { model_provider: "openai" } });
await own.startThread(modelled).run("hi");

// A turn that fails.
const failing = script({ fail: 400, body: { error: { message: "no luck" } } });
told("failed", (await caught(thread.run(failing))).message);

// A turn that is aborted while the model thinks, and one while a command runs.
const aborted = async (prompt, until) => {
  const controller = new AbortController();
  const { events } = await thread.runStreamed(prompt, { signal: controller.signal });
  const reading = (async () => {
    for await (const event of events) {
      if (event.type === until) controller.abort();
    }
  })();
  return (await caught(reading)).name;
};
told("aborted", await aborted(script({ text: "…", stall: true }), "turn.started"));
told("aborted while running", await aborted(script(command("sleep 1000")), "item.started"));
told("after abort", (await thread.run(script({ text: "still here" }))).finalResponse);

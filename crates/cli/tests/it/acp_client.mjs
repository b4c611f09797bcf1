// The official ACP SDK as an editor that uses `quipu acp`. Prints one line of JSON for each step. Arguments: the
// program, the user's home directory, a directory to work in.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import ajv2020 from 'ajv/dist/2020.js';

const [program, home, work] = process.argv.slice(2);
const script = (...steps) => JSON.stringify({ script: steps });
const command = (text) => ({ calls: [{ name: 'shell_command', arguments: { command: text } }] });
const tool = (name, args) => ({ calls: [{ name, arguments: args }] });
const report = (name, value) => console.log(JSON.stringify([name, value]));

// What the editor is shown, and what it answers.
let updates = [];
let asked = [];
let choose = () => 'allow_once';
let fill = () => ({ action: 'decline' });
let waiting = [];
const until = (isTrue) => new Promise((resolve) => {
  if (isTrue()) resolve();
  else waiting.push({ isTrue, resolve });
});

// Every message of the agent is checked against the official schema.
const schema = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json'), 'utf8'));
const ajv = new ajv2020.Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, 'acp');
const invalid = [];
const checked = new Set();
const requested = new Map();
function definition(method, kind, side) {
  const fits = ([name, it]) => it['x-method'] === method && it['x-side'] === side && name.endsWith(kind);
  return Object.entries(schema.$defs).find(fits)?.[0];
}
function check(message) {
  const kind = message.method ? (message.id === undefined ? 'Notification' : 'Request') : 'Response';
  const method = message.method ?? requested.get(message.id);
  if (kind === 'Response' && message.error) {
    const validate = ajv.getSchema('acp#/$defs/Error');
    if (!validate(message.error)) invalid.push([method, 'Error', validate.errors.slice(0, 3)]);
    checked.add('Error');
    return;
  }
  const side = method.startsWith('$/') ? 'protocol' : kind === 'Response' ? 'agent' : 'client';
  const name = definition(method, kind, side);
  const value = kind === 'Response' ? message.result : message.params;
  const validate = name && ajv.getSchema(`acp#/$defs/${name}`);
  if (!validate || !validate(value)) invalid.push([method, kind, name, validate?.errors?.slice(0, 3)]);
  checked.add(`${method} ${kind}${value?.update ? ` ${value.update.sessionUpdate}` : ''}`);
}
const of = (kind) => updates.filter((it) => it.sessionUpdate === kind);
const text = (kind) => of(kind).map((it) => it.content.text).join('');

const editor = client({ name: 'test-editor' })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update);
    for (const it of waiting) if (it.isTrue()) it.resolve();
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => { asked.push(params.message); return fill(params); })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    asked.push({ title: params.toolCall.title, kinds: params.options.map((it) => it.kind), known: of('tool_call').some((it) => it.toolCallId === params.toolCall.toolCallId) });
    const kind = choose(params);
    if (!kind) return { outcome: { outcome: 'cancelled' } };
    const option = params.options.find((it) => it.kind === kind || it.name === kind);
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  })
  .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: `unsaved text of ${params.path}` }))
  .onRequest(methods.client.fs.writeTextFile, ({ params }) => { writeFileSync(params.path, params.content); return {}; })
  .onRequest(methods.client.terminal.create, ({ params }) => ({ terminalId: `t-${params.command}` }))
  .onRequest(methods.client.terminal.waitForExit, () => ({ exitCode: 0 }))
  .onRequest(methods.client.terminal.output, () => ({ output: 'from the terminal', truncated: false }))
  .onRequest(methods.client.terminal.release, () => ({}));

async function withAgent(work_with, { args = [], elicitation } = {}) {
  const child = spawn(program, ['acp', ...args], { env: { PATH: process.env.PATH, HOME: home }, cwd: work, stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  const { readable, writable } = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const noted = new TransformStream({ transform(message, to) {
    if (message.method && message.id !== undefined) requested.set(message.id, message.method);
    to.enqueue(message);
  } });
  noted.readable.pipeTo(writable).catch(() => {});
  const seen = readable.pipeThrough(new TransformStream({ transform(message, to) { check(message); to.enqueue(message); } }));
  await editor.connectWith({ readable: seen, writable: noted.writable }, async (agent) => {
    const hello = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'test-editor', version: '1' },
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, ...(elicitation && { elicitation }) },
    });
    await work_with(agent, hello);
    child.stdin.end();
  });
  return exited;
}

async function prompt(agent, sessionId, ...blocks) {
  updates = []; asked = [];
  const content = blocks.map((it) => (typeof it === 'string' ? { type: 'text', text: it } : it));
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: content });
  return stopReason;
}

let first;
const exit = await withAgent(async (agent, hello) => {
  report('initialize', {
    version: hello.protocolVersion, load: hello.agentCapabilities.loadSession,
    image: hello.agentCapabilities.promptCapabilities.image,
    auth: hello.authMethods.map((it) => it.id),
  });
  updates = [];
  const session = await agent.request(methods.agent.session.new, { cwd: work, mcpServers: [
    { name: 'an.editor', command: process.execPath, args: [`${work}/mcp.mjs`], env: [{ name: 'VERSION', value: '1' }] },
  ] });
  first = session.sessionId;
  await until(() => of('available_commands_update').length);
  report('new', {
    commands: of('available_commands_update')[0].availableCommands.map((it) => it.name),
    modes: session.modes.availableModes.map((it) => it.id),
    options: session.configOptions.map((it) => it.id).slice(0, 2),
  });

  let stop = await prompt(agent, first, script({ reasoning: 'hm', deltas: ['he', 'llo'] }),
    { type: 'resource_link', name: 'a.txt', uri: `file://${work}/a.txt` },
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'embedded' } },
    { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' });
  report('message', { stop, text: text('agent_message_chunk'), thought: text('agent_thought_chunk') });

  await agent.request(methods.agent.session.setMode, { sessionId: first, modeId: 'read-only' });
  writeFileSync(`${work}/a.txt`, 'one\ntwo\n');
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+three\n*** End Patch';
  choose = () => 'reject_once';
  stop = await prompt(agent, first, script({ patch }, { text: 'no' }));
  report('rejected', { stop, asked, file: readFileSync(`${work}/a.txt`, 'utf8') });
  choose = () => 'allow_once';
  stop = await prompt(agent, first, script({ patch }, { text: 'yes' }));
  const edit = of('tool_call').at(-1);
  report('patch', { stop, kind: edit.kind, title: edit.title, diff: edit.content[0], line: edit.locations[0].line,
    end: of('tool_call_update').at(-1).status, file: readFileSync(`${work}/a.txt`, 'utf8') });

  await agent.request(methods.agent.session.setMode, { sessionId: first, modeId: 'full-access' });
  stop = await prompt(agent, first, script(command('printf out; exit 3'), { text: 'ran' }));
  const run = of('tool_call_update').at(-1);
  report('command', { stop, asked: asked.length, title: of('tool_call')[0].title, status: run.status,
    output: run.content.map((it) => it.content.text) });

  stop = await prompt(agent, first, script(tool('update_plan', { plan: [{ step: 'a', status: 'completed' }, { step: 'b', status: 'pending' }] }), { text: 'planned' }));
  report('plan', of('plan')[0].entries.map((it) => `${it.content} ${it.status}`));

  await agent.request(methods.agent.session.setMode, { sessionId: first, modeId: 'auto' });
  stop = await prompt(agent, first, script(
    tool('editor_read_file', { path: '/buffer' }),
    tool('editor_write_file', { path: `${work}/written.txt`, content: 'w' }),
    tool('editor_run_in_terminal', { command: 'make', args: ['all'] }), { text: 'edited' }));
  report('editor', { stop, asked: asked.map((it) => it.title), file: readFileSync(`${work}/written.txt`, 'utf8'),
    terminal: of('tool_call_update').some((it) => it.content?.[0]?.terminalId === 't-make') });

  const slow = prompt(agent, first, script({ stall: true, deltas: ['wait'] }));
  await until(() => text('agent_message_chunk'));
  await agent.notify(methods.agent.session.cancel, { sessionId: first });
  report('cancelled', await slow);

  choose = () => 'Always allow';
  stop = await prompt(agent, first, script(tool('mcp__an_editor__plain', {}), { text: 'did' }));
  const always = asked;
  stop = await prompt(agent, first, script(tool('mcp__an_editor__plain', {}), { text: 'did' }));
  report('mcp', { always: always.map((it) => it.kinds), again: asked.length, status: of('tool_call_update').at(-1).status });
  choose = () => 'allow_once';
  stop = await prompt(agent, first, script(tool('mcp__an_editor__form', {}), { text: 'asked' }));
  report('no forms', { stop, result: of('tool_call_update').at(-1).content[0].content.text, told: text('agent_message_chunk').includes('`name` has to be typed') });

  stop = await prompt(agent, first, '/status');
  report('status', { stop, text: text('agent_message_chunk').split('\n')[1] });
  stop = await prompt(agent, first, '/compact');
  report('compact', { stop, titles: of('tool_call').map((it) => it.title) });

  const options = await agent.request(methods.agent.session.setConfigOption, { sessionId: first, configId: 'model', value: 'other-model' });
  report('model', options.configOptions.find((it) => it.id === 'model').currentValue);
  const errors = [];
  for (const [method, params] of [
    [methods.agent.session.prompt, { sessionId: 'nope', prompt: [{ type: 'text', text: 'x' }] }],
    [methods.agent.session.prompt, { sessionId: first, prompt: [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] }],
    [methods.agent.session.setMode, { sessionId: first, modeId: 'nope' }],
    [methods.agent.session.new, { cwd: 'relative', mcpServers: [] }],
    [methods.agent.authenticate, { methodId: 'nope' }],
  ]) {
    await agent.request(method, params).then(() => errors.push('none'), (error) => errors.push(error.message));
  }
  report('errors', errors);
});
report('exit', exit);

await withAgent(async (agent) => {
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: work });
  updates = [];
  await agent.request(methods.agent.session.load, { sessionId: first, cwd: work, mcpServers: [] });
  report('loaded', { listed: sessions.some((it) => it.sessionId === first), user: of('user_message_chunk').length > 3,
    agent: text('agent_message_chunk').startsWith('hello'), edits: of('tool_call').filter((it) => it.kind === 'edit').length });
  const stop = await prompt(agent, first, script({ text: 'again' }));
  report('resumed', { stop, text: text('agent_message_chunk') });
  fill = ({ requestedSchema }) => ({ action: 'accept', content: { name: 'Ada', color: requestedSchema.properties.color.enum[1], really: true } });
  const second = await agent.request(methods.agent.session.new, { cwd: work, mcpServers: [
    { name: 'forms', command: process.execPath, args: [`${work}/mcp.mjs`], env: [] },
  ] });
  await prompt(agent, second.sessionId, script(tool('mcp__forms__form', {}), { text: 'filled' }));
  report('form', { asked, result: of('tool_call_update').at(-1).content[0].content.text });
  await agent.request(methods.agent.session.delete, { sessionId: first });
  const rest = await agent.request(methods.agent.session.list, { cwd: work });
  report('deleted', rest.sessions.some((it) => it.sessionId === first));
}, { elicitation: { form: {} } });

// A server that is killed in the middle of a turn.
const socket = `unix://${home}/server.sock`;
const serve = () => spawn(program, ['app-server', '--listen', socket], { env: { PATH: process.env.PATH, HOME: home }, cwd: work, stdio: 'ignore' });
let server = serve();
await withAgent(async (agent) => {
  let session;
  while (!session) session = await agent.request(methods.agent.session.new, { cwd: work, mcpServers: [] }).catch(() => undefined);
  const { sessionId } = session;
  const cut = prompt(agent, sessionId, script({ deltas: ['begun'], stall: true }));
  await until(() => text('agent_message_chunk').includes('begun'));
  server.kill('SIGKILL');
  await until(() => text('agent_message_chunk').includes('Trying again'));
  server = serve();
  const stop = await cut;
  const lost = text('agent_message_chunk');
  const next = await prompt(agent, sessionId, script({ text: 'on' }));
  report('lost', { stop, lost: lost.includes('The connection to the server was lost.'), again: lost.includes('Connected again.'), next, text: text('agent_message_chunk') });
}, { args: ['--remote', socket] });
server.kill();
report('schema', { invalid, checked: [...checked].sort() });

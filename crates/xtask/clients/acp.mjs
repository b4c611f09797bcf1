// A bridge of the Agent Client Protocol, which starts `codex app-server`. The driver is the editor: it speaks JSON-RPC in
// lines with the bridge. Arguments: the bridge's program in the client's directory, and its mode in which a user approves.
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLIENT_DIR, CODEX, WORK, check, command, say, script, step } from './steps.mjs';

const program = join(CLIENT_DIR, 'node_modules/.bin', process.argv[2]);

/** A running bridge. */
class Bridge {
  #pending = new Map();
  #next = 1;
  /** The text that the agent said, the kinds of updates, and the permissions that were asked. */
  said = '';
  updates = [];
  asked = [];
  /** Called with every update. */
  watch = () => {};

  constructor() {
    const env = { ...process.env, CODEX_PATH: CODEX, INITIAL_AGENT_MODE: process.argv[3], NO_BROWSER: '1' };
    this.child = spawn(program, [], { cwd: WORK, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.ended = new Promise((resolve) => this.child.on('exit', resolve));
    this.ended.then((code) => {
      for (const { reject } of this.#pending.values()) reject(new Error(`the bridge ended with ${code}`));
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#receive(JSON.parse(line)));
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #receive({ id, method, params, result, error }) {
    if (method === 'session/update') {
      const { sessionUpdate: kind, content } = params.update;
      this.updates.push(kind);
      if (kind === 'agent_message_chunk') this.said += content.text ?? '';
      this.watch(params.update);
    } else if (method === 'session/request_permission') {
      this.asked.push(params.toolCall.toolCallId);
      const { optionId } = params.options.find((it) => it.kind === 'allow_once');
      this.#send({ id, result: { outcome: { outcome: 'selected', optionId } } });
    } else if (method && id !== undefined) {
      this.#send({ id, error: { code: -32601, message: `${method} is not supported` } });
    } else if (!method) {
      const { resolve, reject } = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) reject(new Error(JSON.stringify(error)));
      else resolve(result);
    }
  }

  call(method, params) {
    const id = this.#next++;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  notify(method, params) {
    this.#send({ method, params });
  }

  async initialize() {
    const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
    return this.call('initialize', { protocolVersion: 1, clientCapabilities });
  }

  async prompt(sessionId, text) {
    this.said = '';
    this.updates = [];
    return this.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  async end() {
    this.child.stdin.end();
    this.child.kill();
    await this.ended;
  }
}

const place = { cwd: WORK, mcpServers: [] };
const made = join(WORK, `acp-${process.pid}.txt`);
let bridge = new Bridge();
// However the driver ends, no bridge stays.
process.on('exit', () => bridge.child.kill());
process.on('SIGTERM', () => process.exit(1));
let capabilities;
let sessionId;
await step('start', async () => {
  capabilities = (await bridge.initialize()).agentCapabilities;
  ({ sessionId } = await bridge.call('session/new', place));
});
await step('prompt', async () => {
  const { stopReason } = await bridge.prompt(sessionId, script(say('first ', 'answer')));
  check(stopReason === 'end_turn' && bridge.said.includes('first answer'), `${stopReason}: ${bridge.said}`);
});
await step('approval', async () => {
  await bridge.prompt(sessionId, script(command(`touch ${made}`), say('all ', 'done')));
  check(bridge.asked.length === 1, `asked ${bridge.asked.length} times`);
  check(existsSync(made), 'the command was approved and did not run');
  check(bridge.updates.includes('tool_call'), `no tool call in ${bridge.updates}`);
  rmSync(made);
});
await step('patch', async () => {
  const name = `acp-${process.pid}.md`;
  const patch = `*** Begin Patch\n*** Add File: ${name}\n+hello\n*** End Patch`;
  const diffs = [];
  bridge.watch = ({ content }) => diffs.push(...[content].flat().filter((it) => it?.type === 'diff'));
  await bridge.prompt(sessionId, script({ patch }, { text: 'done' }));
  check(existsSync(join(WORK, name)) && diffs.length > 0, `${diffs.length} diffs`);
  rmSync(join(WORK, name));
});
await step('cancel', async () => {
  let cancelled = false;
  bridge.watch = (update) => {
    if (update.sessionUpdate !== 'agent_message_chunk' || cancelled) return;
    cancelled = true;
    bridge.notify('session/cancel', { sessionId });
  };
  const { stopReason } = await bridge.prompt(sessionId, script({ deltas: 1000, every: 50 }));
  bridge.watch = () => {};
  check(stopReason === 'cancelled', `the turn stopped with ${stopReason}`);
});
await step('load', async () => {
  check(capabilities.loadSession, 'sessions cannot be loaded');
  await bridge.end();
  bridge = new Bridge();
  await bridge.initialize();
  await bridge.call('session/load', { sessionId, ...place });
  check(bridge.said.includes('first answer'), `the history is ${bridge.said}`);
  const { stopReason } = await bridge.prompt(sessionId, script({ text: 'again' }));
  check(stopReason === 'end_turn' && bridge.said.includes('again'), `${stopReason}: ${bridge.said}`);
});
if (capabilities.sessionCapabilities?.list) {
  await step('list', async () => {
    const { sessions } = await bridge.call('session/list', { cwd: WORK });
    check(sessions.some((it) => it.sessionId === sessionId), `${sessions.length} others`);
  });
}
await bridge.end();
process.exit(0);

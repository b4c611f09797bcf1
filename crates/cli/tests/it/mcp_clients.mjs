// The official MCP SDK as a client of `quipu mcp-server`, over standard input and output and over HTTP. Prints one line
// of JSON for each step. Arguments: the program, the user's home directory, a directory to work in.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [program, home, work] = process.argv.slice(2);
const env = { PATH: process.env.PATH, HOME: home };
const script = (...steps) => JSON.stringify({ script: steps });
const command = (text) => ({ calls: [{ name: 'shell_command', arguments: { command: text } }] });

async function converse(name, transport) {
  const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } });
  const asked = [];
  client.setRequestHandler(ElicitRequestSchema, async (request) => {
    const { message, requestedSchema } = request.params;
    asked.push(message.includes('touch') ? 'command' : message);
    const content = { colour: 'Blue', name: 'Ada' };
    const fields = Object.keys(content).filter((it) => it in requestedSchema.properties);
    return { action: 'accept', content: Object.fromEntries(fields.map((it) => [it, content[it]])) };
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  // The SDK drops progress that arrives in one read with the answer; the first step comes before the question.
  const progress = [];
  const first = await client.callTool(
    { name: 'codex', arguments: {
      prompt: script(command(`touch ${name}.txt`), { text: 'made' }),
      'approval-policy': 'untrusted', sandbox: 'workspace-write', cwd: work,
    } },
    undefined,
    { onprogress: (it) => progress.push(it.progress) },
  );
  const reply = await client.callTool({ name: 'codex-reply', arguments: {
    prompt: script({ text: 'again' }), threadId: first.structuredContent.threadId,
  } });
  // The agent asks, one of its MCP servers asks, and another client that shows no forms is not asked.
  const options = [{ label: 'Red', description: 'r' }, { label: 'Blue', description: 'b' }];
  const questions = [{ id: 'colour', header: 'Colour', question: 'Which?', options }];
  const calls = [
    { name: 'request_user_input', arguments: { questions } },
    { name: 'mcp__forms__form', arguments: {} },
  ];
  const asking = { name: 'codex', arguments: {
    prompt: script(...calls.map((it) => ({ calls: [it] })), { text: 'answered' }),
    'approval-policy': 'on-request', cwd: work,
    config: {
      'features.default_mode_request_user_input': true,
      mcp_servers: { forms: { command: process.execPath, args: [`${work}/mcp.mjs`], env: { VERSION: '1' } } },
    },
  } };
  const read = [];
  client.fallbackNotificationHandler = async ({ params }) => {
    const item = params?.msg?.item;
    if (item?.type === 'function_call_output') read.push(JSON.stringify(item.output));
  };
  await client.callTool(asking);
  const answers = ['"Blue"', 'Ada'].map((it) => read.some((output) => output.replaceAll('\\', '').includes(it)));
  const cancel = new AbortController();
  const slow = client.callTool(
    { name: 'codex', arguments: { prompt: script({ stall: true, text: 'never' }) } },
    undefined,
    { signal: cancel.signal, onprogress: () => cancel.abort('enough') },
  ).then(() => 'answered', () => 'cancelled');
  console.log(JSON.stringify([name, {
    tools: tools.map((it) => it.name), asked, answers, progress: progress[0] === 1,
    first: first.structuredContent.content, reply: reply.content[0].text, slow: await slow,
  }]));
  await client.close();
  return asking;
}

const asking = await converse('stdio', new StdioClientTransport({ command: program, args: ['mcp-server'], env, cwd: work }));

const plain = new Client({ name: 'plain', version: '1' });
const read = [];
plain.fallbackNotificationHandler = async ({ params }) => read.push(JSON.stringify(params?.msg ?? ''));
await plain.connect(new StdioClientTransport({ command: program, args: ['mcp-server'], env, cwd: work }));
await plain.callTool(asking);
console.log(JSON.stringify(['plain', read.some((it) => it.includes('does not declare the capability `elicitation`'))]));
await plain.close();

const server = spawn(program, ['mcp-server', '--http', '127.0.0.1:0'], { env, cwd: work, stdio: ['ignore', 'ignore', 'pipe'] });
for await (const line of createInterface({ input: server.stderr })) {
  const url = line.match(/http:\S+/)?.[0];
  if (!url) continue;
  await converse('http', new StreamableHTTPClientTransport(new URL(url)));
  break;
}
server.kill();

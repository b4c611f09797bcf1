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
    asked.push(request.params.message.includes('touch') ? 'command' : request.params.message);
    return { action: 'accept', content: {} };
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
  const cancel = new AbortController();
  const slow = client.callTool(
    { name: 'codex', arguments: { prompt: script({ stall: true, text: 'never' }) } },
    undefined,
    { signal: cancel.signal, onprogress: () => cancel.abort('enough') },
  ).then(() => 'answered', () => 'cancelled');
  console.log(JSON.stringify([name, {
    tools: tools.map((it) => it.name), asked, progress: progress[0] === 1,
    first: first.structuredContent.content, reply: reply.content[0].text, slow: await slow,
  }]));
  await client.close();
}

await converse('stdio', new StdioClientTransport({ command: program, args: ['mcp-server'], env, cwd: work }));

const server = spawn(program, ['mcp-server', '--http', '127.0.0.1:0'], { env, cwd: work, stdio: ['ignore', 'ignore', 'pipe'] });
for await (const line of createInterface({ input: server.stderr })) {
  const url = line.match(/http:\S+/)?.[0];
  if (!url) continue;
  await converse('http', new StreamableHTTPClientTransport(new URL(url)));
  break;
}
server.kill();

// An MCP server with two tools: `form` asks the user to fill in a form and returns what came of it, `plain` needs an
// approval.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const tools = [
  { name: 'form', description: 'Asks', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'plain', description: 'Does', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
];
const requestedSchema = {
  type: 'object',
  properties: {
    color: { type: 'string', enum: ['red', 'blue'] },
    name: { type: 'string', title: 'Name', minLength: 2 },
    really: { type: 'boolean', default: false },
  },
  required: ['name'],
};
let call;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'form', version: process.env.VERSION } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (method === 'tools/call' && params.name === 'form') {
    call = id;
    send({ id: 'ask', method: 'elicitation/create', params: { message: 'Who?', requestedSchema } });
  } else if (method === 'tools/call') {
    send({ id, result: text('done') });
  } else if (id === 'ask') {
    send({ id: call, result: text(result) });
  } else if (method && id !== undefined) {
    send({ id, error: { code: -32601, message: 'no such method' } });
  }
}

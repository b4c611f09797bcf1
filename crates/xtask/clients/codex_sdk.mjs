// The official SDK for TypeScript, which runs `codex exec`.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Codex } from '@openai/codex-sdk';
import { CODEX, WORK, check, command, say, script, step } from './steps.mjs';

const codex = new Codex({ codexPathOverride: CODEX });
const options = { workingDirectory: WORK, sandboxMode: 'workspace-write', approvalPolicy: 'never' };
const thread = codex.startThread(options);

await step('prompt', async () => {
  const turn = await thread.run(script(say('first ', 'answer')));
  check(turn.finalResponse === 'first answer', `the answer is ${turn.finalResponse}`);
  check(turn.usage, 'the turn has no usage');
});
await step('stream', async () => {
  const made = join(WORK, `sdk-${process.pid}.txt`);
  const prompt = script(
    { calls: [{ name: 'exec_command', arguments: { cmd: `touch ${made}` } }] },
    { patch: `*** Begin Patch\n*** Delete File: ${made}\n*** End Patch` },
    { text: 'done' },
  );
  const kinds = [];
  for await (const event of (await thread.runStreamed(prompt)).events) {
    kinds.push(event.item?.type ?? event.type);
  }
  rmSync(made, { force: true });
  for (const kind of ['command_execution', 'file_change', 'agent_message', 'turn.completed']) {
    check(kinds.includes(kind), `no ${kind} in ${kinds}`);
  }
});
await step('schema', async () => {
  const outputSchema = {
    type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false,
  };
  const turn = await thread.run(script({ text: '{"n": 1}' }), { outputSchema });
  check(JSON.parse(turn.finalResponse).n === 1, `the answer is ${turn.finalResponse}`);
});
await step('no approval', async () => {
  const made = join(WORK, `sdk-${process.pid}.txt`);
  await thread.run(script(command(`touch ${made}`), { text: 'done' }));
  check(!existsSync(made), 'a command left its sandbox without an approval');
});
await step('abort', async () => {
  const stop = new AbortController();
  const { events } = await thread.runStreamed(script({ stall: true, text: 'never' }), { signal: stop.signal });
  let aborted = false;
  try {
    for await (const event of events) if (event.type === 'turn.started') stop.abort();
  } catch {
    aborted = true;
  }
  check(aborted, 'the turn was not aborted');
});
await step('resume', async () => {
  const turn = await codex.resumeThread(thread.id, options).run(script({ text: 'again' }));
  check(turn.finalResponse === 'again', `the answer is ${turn.finalResponse}`);
});

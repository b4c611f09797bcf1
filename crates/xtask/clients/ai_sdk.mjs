// A provider of the AI SDK that starts `codex app-server`. Argument: the name of its package.
import { generateText, streamText } from 'ai';
import { CODEX, WORK, check, say, script, step } from './steps.mjs';

// The two providers name the same settings differently, and continue a thread in different ways.
const KINDS = {
  'ai-sdk-provider-codex-app-server': {
    rights: { approvalMode: 'never', sandboxMode: 'workspace-write' },
    settings: (resume) => ({ resume }),
    options: () => ({}),
  },
  'ai-sdk-provider-codex-cli': {
    rights: { approvalPolicy: 'never', sandboxPolicy: 'workspace-write' },
    settings: () => ({}),
    options: (threadId) => ({ 'codex-app-server': { threadId } }),
  },
};
const { createCodexAppServer } = await import(process.argv[2]);
const kind = KINDS[process.argv[2]];
const open = (more) => createCodexAppServer({
  defaultSettings: { codexPath: CODEX, cwd: WORK, threadMode: 'persistent', logger: false, ...kind.rights, ...more },
});
const provider = open();

/** The thread that a result says it is of. */
const threadOf = (metadata) => Object.values(metadata ?? {}).map((it) => it.threadId ?? it.sessionId).find(Boolean);

let thread;
await step('prompt', async () => {
  const { text } = await generateText({ model: provider('offline'), prompt: script(say('first ', 'answer')) });
  check(text === 'first answer', `the answer is ${text}`);
});
await step('stream', async () => {
  const result = streamText({
    model: provider('offline'),
    prompt: script({ calls: [{ name: 'exec_command', arguments: { cmd: 'ls' } }] }, { deltas: ['a', 'b', 'c'] }),
  });
  const kinds = [];
  for await (const part of result.fullStream) kinds.push(part.type);
  check((await result.text) === 'abc', `the answer is ${await result.text}`);
  for (const expected of ['tool-call', 'tool-result', 'text-delta', 'finish']) {
    check(kinds.includes(expected), `no ${expected} in ${kinds}`);
  }
  thread = threadOf(await result.providerMetadata);
  check(thread, 'the result names no thread');
});
await step('resume', async () => {
  const result = streamText({
    model: open(kind.settings(thread))('offline'),
    prompt: script({ text: 'again' }),
    providerOptions: kind.options(thread),
  });
  const text = await result.text;
  check(text === 'again', `the answer is ${text}`);
  check(threadOf(await result.providerMetadata) === thread, 'another thread was started');
});
process.exit(0);

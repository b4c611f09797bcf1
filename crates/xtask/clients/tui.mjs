// The official terminal interface, in tmux, connected to a running server with `--remote`. Arguments: options of the
// program, such as those that keep it from asking for a login of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CLIENT_DIR, QUIPU_URL, WORK, check, command, say, script, step } from './steps.mjs';

const PATIENCE = 60_000;
const options = process.argv.slice(2);
let socket = join(CLIENT_DIR, 'tmux.sock');
const made = join(WORK, `tui-${process.pid}.txt`);

const tmux = (...args) => spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
const screen = () => tmux('capture-pane', '-p', '-J', '-S', '-500', '-t', 'tui').stdout ?? '';
const press = (...keys) => tmux('send-keys', '-t', 'tui', ...keys);

/** Waits until the screen is as expected. */
async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    if (holds(screen())) return;
    await pause(100);
  }
  throw new Error(`the screen never shows ${what}; last:\n${screen().trim()}`);
}

const shows = (expected) => until(expected, (text) => expected.test(text));

/** Starts the program and waits until it takes input. What remains on the screen must survive its end and ctrl-c. */
async function start(args, ready) {
  const program = join(CLIENT_DIR, 'node_modules/.bin/codex');
  const line = [program, ...args, '--remote', QUIPU_URL, ...options].map((it) => `'${it}'`).join(' ');
  tmux('kill-server');
  // A server that is ending still holds its socket.
  socket = join(CLIENT_DIR, `tmux-${Date.now()}.sock`);
  const started = tmux('new-session', '-d', '-s', 'tui', '-x', '110', '-y', '50', '-c', WORK, `trap '' INT; ${line}; echo left $?; exec cat`);
  check(started.status === 0, `tmux does not start: ${started.stderr}`);
  await shows(ready);
}

/** Types a prompt and sends it. Text that comes too fast is taken for a paste, in which enter is a new line. */
async function send(prompt) {
  const squeezed = (text) => text.replaceAll(/\s/g, '');
  press('-l', prompt);
  await until(prompt, (text) => squeezed(text).includes(squeezed(prompt)));
  await pause(500);
  press('Enter');
}

/** The first ctrl-c may be for something else, such as a hint that a second one leaves. */
async function leave() {
  const end = Date.now() + PATIENCE;
  while (!/left \d/.test(screen()) && Date.now() < end) {
    press('C-c');
    await pause(400);
  }
  await shows(/left 0/);
}

// However the driver ends, nothing of it stays.
process.on('exit', () => {
  tmux('kill-server');
  rmSync(made, { force: true });
});
process.on('SIGTERM', () => process.exit(1));

await step('start', () => start([], /offline/));
await step('prompt', async () => {
  await send(script(say('first ans', 'wer')));
  await shows(/first answer/);
});
await step('approval', async () => {
  await send(script(command(`touch ${made}`), say('all do', 'ne now')));
  await shows(/Yes, proceed/);
  check(!existsSync(made), 'the command ran before it was approved');
  press('y');
  await shows(/all done now/);
  check(existsSync(made), 'the command was approved and did not run');
});
await step('leave', leave);
await step('resume', async () => {
  await start(['resume', '--last'], /first answer/);
  await send(script(say('second ans', 'wer')));
  await shows(/second answer/);
  await leave();
});
await step('picker', async () => {
  await start(['resume'], /script/);
  press('Enter');
  await shows(/second answer/);
  await leave();
});

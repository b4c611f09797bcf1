// What the drivers share: prompts that script the offline model, and steps printed as lines of JSON.

/** What a driver is told by the runner, through the environment. */
export const { CLIENT_DIR, CODEX, QUIPU_URL, WORK } = process.env;

/** A prompt that the offline model plays. It answers after a moment, as real models do: some clients lose what comes right
 * after the answer to `turn/start`. */
export const script = (first, ...others) => JSON.stringify({ script: [{ hang: 200, ...first }, ...others] });

/** A message in two pieces, so that the prompt does not contain it in one. */
export const say = (one, other) => ({ deltas: [one, other] });

/** A command that needs an approval whatever the sandbox is. */
export const command = (cmd) => ({
  calls: [{
    name: 'exec_command',
    arguments: { cmd, sandbox_permissions: 'require_escalated', justification: 'to try an approval' },
  }],
});

/** Fails unless the condition holds. */
export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Runs one step and prints its result. The first failure ends the driver: later steps build on earlier ones. */
export async function step(name, run) {
  try {
    await run();
    console.log(JSON.stringify({ step: name, ok: true }));
  } catch (error) {
    console.log(JSON.stringify({ step: name, ok: false, detail: String(error?.message ?? error) }));
    process.exit(1);
  }
}

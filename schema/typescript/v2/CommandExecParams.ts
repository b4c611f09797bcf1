// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CommandExecTerminalSize } from "./CommandExecTerminalSize";
import type { SandboxPolicy } from "./SandboxPolicy";

/**
 * Parameters of `command/exec`.
 */
export type CommandExecParams = { 
/**
 * The program and its arguments; no shell is involved. It must not be empty.
 */
command: Array<string>, 
/**
 * A name that is unique among the running commands of this connection. Required for `tty` and
 * streaming, and to write to, resize or terminate the command.
 */
processId?: string | null, 
/**
 * Runs the command in a terminal, with input and output streamed and all output on `stdout`.
 */
tty?: boolean, 
/**
 * Keeps standard input open for `command/exec/write`; otherwise it is closed from the start.
 */
streamStdin?: boolean, 
/**
 * Sends output in `command/exec/outputDelta` as it comes; the result then has none.
 */
streamStdoutStderr?: boolean, 
/**
 * The most bytes of output to keep per stream; 1048576 (1 MiB) if absent.
 */
outputBytesCap?: number | null, 
/**
 * Keeps all output; excludes `outputBytesCap`.
 */
disableOutputCap?: boolean, 
/**
 * Sets no time limit; excludes `timeoutMs`.
 */
disableTimeout?: boolean, 
/**
 * Milliseconds until the command is killed; 10000 if absent, and 0 kills it at once.
 */
timeoutMs?: number | null, 
/**
 * The directory to run in, relative to the server's own, which is also the default.
 */
cwd?: string | null, 
/**
 * Changes to the environment that the configuration yields: a string sets, null removes.
 */
env?: { [key in string]?: string | null } | null, 
/**
 * The terminal's first size, 24 rows and 80 columns if absent; only with `tty`.
 */
size?: CommandExecTerminalSize | null, 
/**
 * The sandbox for this command; the configured one if absent.
 */
sandboxPolicy?: SandboxPolicy | null, };

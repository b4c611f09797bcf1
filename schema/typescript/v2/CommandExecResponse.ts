// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `command/exec`.
 */
export type CommandExecResponse = { 
/**
 * The exit status; 124 after the timeout, -1 after a signal outside a terminal.
 */
exitCode: number, 
/**
 * Empty if the output was streamed.
 */
stdout: string, 
/**
 * Empty if the output was streamed.
 */
stderr: string, };

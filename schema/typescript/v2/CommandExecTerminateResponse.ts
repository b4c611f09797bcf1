// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `command/exec/terminate`.
 */
export type CommandExecTerminateResponse = Record<string, never>;

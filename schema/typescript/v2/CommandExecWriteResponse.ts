// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `command/exec/write`.
 */
export type CommandExecWriteResponse = Record<string, never>;

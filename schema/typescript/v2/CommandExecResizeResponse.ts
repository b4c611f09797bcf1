// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `command/exec/resize`.
 */
export type CommandExecResizeResponse = Record<string, never>;

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `thread/shellCommand`.
 */
export type ThreadShellCommandResponse = Record<string, never>;

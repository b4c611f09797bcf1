// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/shellCommand`.
 */
export type ThreadShellCommandParams = { threadId: string, 
/**
 * A line for the user's shell, run without sandbox and approval for at most an hour.
 */
command: string, };

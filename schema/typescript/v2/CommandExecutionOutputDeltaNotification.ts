// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/commandExecution/outputDelta`.
 */
export type CommandExecutionOutputDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * Output to append, of either stream; bytes that are not UTF-8 are replaced.
 */
delta: string, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/commandExecution/terminalInteraction`.
 */
export type TerminalInteractionNotification = { threadId: string, turnId: string, 
/**
 * The item that started the process.
 */
itemId: string, processId: string, 
/**
 * What the model wrote; empty if it only looked for new output.
 */
stdin: string, };

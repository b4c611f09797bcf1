// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of the notification `item/fileChange/outputDelta`.
 */
export type FileChangeOutputDeltaNotification = { threadId: string, turnId: string, itemId: string, 
/**
 * What the model is told about the patch.
 */
delta: string, };

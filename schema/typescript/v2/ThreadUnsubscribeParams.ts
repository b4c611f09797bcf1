// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/unsubscribe`.
 */
export type ThreadUnsubscribeParams = { threadId: string, };

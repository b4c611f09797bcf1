// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/compact/start`.
 */
export type ThreadCompactStartParams = { threadId: string, };

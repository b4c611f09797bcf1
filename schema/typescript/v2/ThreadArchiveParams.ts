// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/archive`.
 */
export type ThreadArchiveParams = { threadId: string, };

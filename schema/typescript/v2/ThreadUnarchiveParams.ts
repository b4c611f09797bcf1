// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/unarchive`.
 */
export type ThreadUnarchiveParams = { threadId: string, };

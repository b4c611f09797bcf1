// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/name/set`.
 */
export type ThreadSetNameParams = { threadId: string, 
/**
 * Trimmed; must not be empty, need not be unique.
 */
name: string, };

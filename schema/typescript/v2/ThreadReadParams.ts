// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/read`.
 */
export type ThreadReadParams = { threadId: string, 
/**
 * Fills `turns`; not possible for ephemeral threads, nor before the first message.
 */
includeTurns: boolean, };

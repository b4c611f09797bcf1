// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `thread/rollback`.
 */
export type ThreadRollbackParams = { threadId: string, 
/**
 * How many of the last turns to drop, at least 1; files stay as they are.
 */
numTurns: number, };

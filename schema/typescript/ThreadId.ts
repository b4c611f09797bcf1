// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 *  The id of a thread.
 */
export type ThreadId = string;

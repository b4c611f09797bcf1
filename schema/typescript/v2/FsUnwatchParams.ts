// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `fs/unwatch`.
 */
export type FsUnwatchParams = { watchId: string, };

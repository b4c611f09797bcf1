// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `thread/compact/start`.
 */
export type ThreadCompactStartResponse = Record<string, never>;

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a list of threads is sorted by, the newest first.
 */
export type ThreadSortKey = "created_at" | "updated_at";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How a new value meets the old one.
 */
export type MergeStrategy = "replace" | "upsert";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What was found.
 */
export type FuzzyFileSearchMatchType = "file" | "directory";

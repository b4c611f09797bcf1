// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FuzzyFileSearchMatchType } from "./FuzzyFileSearchMatchType";

/**
 * A file or directory that matches a query.
 */
export type FuzzyFileSearchResult = { 
/**
 * The directory of the request that it was found in.
 */
root: string, 
/**
 * The path below `root`.
 */
path: string, match_type: FuzzyFileSearchMatchType, file_name: string, 
/**
 * The higher the better; comparable within one query only.
 */
score: number, 
/**
 * The characters of `path` that match, counted from 0 in ascending order.
 */
indices: Array<number> | null, };

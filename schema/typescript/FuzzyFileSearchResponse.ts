// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FuzzyFileSearchResult } from "./FuzzyFileSearchResult";

/**
 * Result of `fuzzyFileSearch`.
 */
export type FuzzyFileSearchResponse = { 
/**
 * At most 50, the best first.
 */
files: Array<FuzzyFileSearchResult>, };

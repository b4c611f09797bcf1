// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { FuzzyFileSearchResult } from "./FuzzyFileSearchResult";

/**
 * Parameters of the notification `fuzzyFileSearch/sessionUpdated`.
 */
export type FuzzyFileSearchSessionUpdatedNotification = { sessionId: string, 
/**
 * The query that found these files.
 */
query: string, 
/**
 * All matches so far, at most 50, the best first.
 */
files: Array<FuzzyFileSearchResult>, };

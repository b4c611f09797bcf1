// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What the model did on the web.
 */
export type WebSearchAction = { "type": "search", query: string | null, 
/**
 * All queries, if it made several.
 */
queries: Array<string> | null, } | { "type": "openPage", url: string | null, } | { "type": "findInPage", url: string | null, pattern: string | null, } | { "type": "other" };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What the model did on the web.
 */
export type WebSearchAction = { "type": "search", query?: string, 
/**
 * All queries, if it made several.
 */
queries?: Array<string>, } | { "type": "open_page", url?: string, } | { "type": "find_in_page", url?: string, pattern?: string, } | { "type": "other" };

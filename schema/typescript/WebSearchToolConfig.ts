// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { WebSearchContextSize } from "./WebSearchContextSize";
import type { WebSearchLocation } from "./WebSearchLocation";

/**
 * The table `[tools.web_search]`.
 */
export type WebSearchToolConfig = { context_size: WebSearchContextSize | null, 
/**
 * The only domains to search; all if null.
 */
allowed_domains: Array<string> | null, location: WebSearchLocation | null, };

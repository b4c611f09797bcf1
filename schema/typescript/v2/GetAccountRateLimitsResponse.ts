// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { RateLimitSnapshot } from "./RateLimitSnapshot";

/**
 * Result of `account/rateLimits/read`.
 */
export type GetAccountRateLimitsResponse = { 
/**
 * The main limit, for clients that show only one.
 */
rateLimits: RateLimitSnapshot, 
/**
 * All limits by their `limitId`, the main one included.
 */
rateLimitsByLimitId: { [key in string]?: RateLimitSnapshot } | null, };

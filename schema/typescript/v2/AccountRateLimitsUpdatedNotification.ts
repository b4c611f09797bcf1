// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { RateLimitSnapshot } from "./RateLimitSnapshot";

/**
 * Parameters of the notification `account/rateLimits/updated`.
 */
export type AccountRateLimitsUpdatedNotification = { 
/**
 * Comes with every model response, even if the provider reported no limits.
 */
rateLimits: RateLimitSnapshot, };

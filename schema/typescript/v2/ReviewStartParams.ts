// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ReviewDelivery } from "./ReviewDelivery";
import type { ReviewTarget } from "./ReviewTarget";

/**
 * Parameters of `review/start`.
 */
export type ReviewStartParams = { threadId: string, target: ReviewTarget, 
/**
 * `inline` if absent.
 */
delivery?: ReviewDelivery | null, };

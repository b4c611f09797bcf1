// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Turn } from "./Turn";

/**
 * Result of `review/start`.
 */
export type ReviewStartResponse = { 
/**
 * The turn of the review, with what is reviewed as a message of the user.
 */
turn: Turn, 
/**
 * The thread of the review: the same for `inline`, a new one for `detached`.
 */
reviewThreadId: string, };

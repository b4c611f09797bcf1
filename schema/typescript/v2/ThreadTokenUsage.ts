// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { TokenUsageBreakdown } from "./TokenUsageBreakdown";

/**
 * How many tokens a thread has used.
 */
export type ThreadTokenUsage = { 
/**
 * By all model requests of the thread, also before a resume.
 */
total: TokenUsageBreakdown, 
/**
 * By the last one. After a compaction or rollback: an estimate, in `totalTokens` only.
 */
last: TokenUsageBreakdown, 
/**
 * The tokens that the model can work with, a little below its full window; null if unknown.
 */
modelContextWindow: number | null, };

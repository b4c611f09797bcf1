// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Numbers of tokens.
 */
export type TokenUsageBreakdown = { totalTokens: number, 
/**
 * What the model read, cached tokens included.
 */
inputTokens: number, 
/**
 * The part of the input that the provider had cached.
 */
cachedInputTokens: number, 
/**
 * What the model wrote, its thoughts included.
 */
outputTokens: number, 
/**
 * The part of the output that was thoughts.
 */
reasoningOutputTokens: number, };

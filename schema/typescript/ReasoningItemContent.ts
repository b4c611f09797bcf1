// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A part of the model's thoughts.
 */
export type ReasoningItemContent = { "type": "reasoning_text", text: string, } | { "type": "text", text: string, };

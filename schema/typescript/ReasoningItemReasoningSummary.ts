// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A part of the summary of the model's thoughts.
 */
export type ReasoningItemReasoningSummary = { "type": "summary_text", text: string, };

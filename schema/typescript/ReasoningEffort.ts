// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How much the model thinks before it speaks or acts.
 */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How much of what a search finds the model gets to read.
 */
export type WebSearchContextSize = "low" | "medium" | "high";

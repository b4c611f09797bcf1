// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How the provider sums up the model's thoughts.
 */
export type ReasoningSummary = "auto" | "concise" | "detailed" | "none";

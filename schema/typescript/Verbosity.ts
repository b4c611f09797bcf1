// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How much the model should write.
 */
export type Verbosity = "low" | "medium" | "high";

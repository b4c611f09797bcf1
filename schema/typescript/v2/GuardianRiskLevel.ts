// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How risky an action is.
 */
export type GuardianRiskLevel = "low" | "medium" | "high";

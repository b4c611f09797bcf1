// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Why the provider used another model.
 */
export type ModelRerouteReason = "highRiskCyberActivity";

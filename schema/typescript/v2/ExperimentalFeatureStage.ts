// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How ready a feature is.
 */
export type ExperimentalFeatureStage = "beta" | "underDevelopment" | "stable" | "deprecated" | "removed";

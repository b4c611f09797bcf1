// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Which kind of processing to ask the provider for.
 */
export type ServiceTier = "fast" | "flex";

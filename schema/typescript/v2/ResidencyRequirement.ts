// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A region in which requests are processed.
 */
export type ResidencyRequirement = "us";

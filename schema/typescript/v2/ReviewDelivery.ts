// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Where a review takes place.
 */
export type ReviewDelivery = "inline" | "detached";

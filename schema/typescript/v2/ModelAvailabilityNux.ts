// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * An announcement of a model.
 */
export type ModelAvailabilityNux = { message: string, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What became of an attempt to cancel a login.
 */
export type CancelLoginAccountStatus = "canceled" | "notFound";

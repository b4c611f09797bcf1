// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What became of a subscription.
 */
export type ThreadUnsubscribeStatus = "notLoaded" | "notSubscribed" | "unsubscribed";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How to show a marketplace.
 */
export type MarketplaceInterface = { displayName: string | null, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Roughly where the user is, so that searches fit.
 */
export type WebSearchLocation = { country: string | null, region: string | null, city: string | null, timezone: string | null, };

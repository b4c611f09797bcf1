// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Who is behind an app.
 */
export type AppBranding = { category: string | null, developer: string | null, website: string | null, privacyPolicy: string | null, termsOfService: string | null, isDiscoverableApp: boolean, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What became of the directory's check of an app.
 */
export type AppReview = { status: string, };

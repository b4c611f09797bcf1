// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How the model can search the web.
 */
export type WebSearchMode = "disabled" | "cached" | "live";

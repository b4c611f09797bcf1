// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The table `[apps._default]`.
 */
export type AppsDefaultConfig = { enabled: boolean, 
/**
 * Whether tools that may destroy something can be used.
 */
destructive_enabled: boolean, 
/**
 * Whether tools that reach beyond the app itself can be used.
 */
open_world_enabled: boolean, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `experimentalFeature/enablement/set`.
 */
export type ExperimentalFeatureEnablementSetResponse = { 
/**
 * The same as in the request.
 */
enablement: { [key in string]?: boolean }, };

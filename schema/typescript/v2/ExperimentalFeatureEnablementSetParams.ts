// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `experimentalFeature/enablement/set`.
 */
export type ExperimentalFeatureEnablementSetParams = { 
/**
 * Features to switch by name, until the server exits. What the configuration sets still wins.
 */
enablement: { [key in string]?: boolean }, };

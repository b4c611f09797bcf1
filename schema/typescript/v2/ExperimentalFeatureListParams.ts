// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Features per page; all if absent.
 */
limit?: number | null, };

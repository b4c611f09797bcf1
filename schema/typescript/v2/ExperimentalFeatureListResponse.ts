// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ExperimentalFeature } from "./ExperimentalFeature";

/**
 * Result of `experimentalFeature/list`.
 */
export type ExperimentalFeatureListResponse = { data: Array<ExperimentalFeature>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

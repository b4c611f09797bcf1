// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Model } from "./Model";

/**
 * Result of `model/list`.
 */
export type ModelListResponse = { 
/**
 * In the order to show them.
 */
data: Array<Model>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

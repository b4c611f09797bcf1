// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `model/list`.
 */
export type ModelListParams = { 
/**
 * The `nextCursor` of the page before; absent for the first.
 */
cursor?: string | null, 
/**
 * Models per page; all if absent.
 */
limit?: number | null, 
/**
 * Also returns models that are not meant to be picked; `false` if absent.
 */
includeHidden?: boolean | null, };

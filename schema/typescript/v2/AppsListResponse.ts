// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppInfo } from "./AppInfo";

/**
 * Result of `app/list`.
 */
export type AppsListResponse = { 
/**
 * Those the user has connected first, then by name.
 */
data: Array<AppInfo>, 
/**
 * Null on the last page.
 */
nextCursor: string | null, };

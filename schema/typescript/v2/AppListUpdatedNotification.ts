// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppInfo } from "./AppInfo";

/**
 * Parameters of the notification `app/list/updated`.
 */
export type AppListUpdatedNotification = { 
/**
 * The whole list as far as it is known.
 */
data: Array<AppInfo>, };

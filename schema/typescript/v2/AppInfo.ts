// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppBranding } from "./AppBranding";
import type { AppMetadata } from "./AppMetadata";

/**
 * An app.
 */
export type AppInfo = { id: string, name: string, description: string | null, logoUrl: string | null, logoUrlDark: string | null, distributionChannel: string | null, branding: AppBranding | null, appMetadata: AppMetadata | null, labels: { [key in string]?: string } | null, 
/**
 * The page on which the user can connect it.
 */
installUrl: string | null, 
/**
 * Whether the user has connected it.
 */
isAccessible: boolean, 
/**
 * Whether the configuration and its requirements allow it.
 */
isEnabled: boolean, 
/**
 * The plugins that bring it.
 */
pluginDisplayNames: Array<string>, };

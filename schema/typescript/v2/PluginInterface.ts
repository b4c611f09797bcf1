// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * How to show a plugin.
 */
export type PluginInterface = { displayName: string | null, shortDescription: string | null, longDescription: string | null, developerName: string | null, 
/**
 * The marketplace's word, else the plugin's.
 */
category: string | null, capabilities: Array<string>, websiteUrl: string | null, privacyPolicyUrl: string | null, termsOfServiceUrl: string | null, 
/**
 * Up to 3 things to start with, of up to 128 characters each.
 */
defaultPrompt: Array<string> | null, 
/**
 * As `#RRGGBB`.
 */
brandColor: string | null, composerIcon: AbsolutePathBuf | null, logo: AbsolutePathBuf | null, screenshots: Array<AbsolutePathBuf>, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppToolApproval } from "./AppToolApproval";
import type { AppToolsConfig } from "./AppToolsConfig";
import type { AppsDefaultConfig } from "./AppsDefaultConfig";

/**
 * The table `[apps]`.
 */
export type AppsConfig = { 
/**
 * Applies to what an app does not set itself.
 */
_default: AppsDefaultConfig | null, } & ({ [key in string]?: { 
/**
 * Applies to tools that `tools` does not name.
 */
default_tools_approval_mode: AppToolApproval | null, 
/**
 * Applies to tools that `tools` does not name.
 */
default_tools_enabled: boolean | null, 
/**
 * Whether tools that may destroy something can be used.
 */
destructive_enabled: boolean | null, enabled: boolean, 
/**
 * Whether tools that reach beyond the app itself can be used.
 */
open_world_enabled: boolean | null, tools: AppToolsConfig | null, } });

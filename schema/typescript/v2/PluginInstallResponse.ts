// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppSummary } from "./AppSummary";
import type { PluginAuthPolicy } from "./PluginAuthPolicy";

/**
 * Result of `plugin/install`.
 */
export type PluginInstallResponse = { authPolicy: PluginAuthPolicy, 
/**
 * The apps that the user has yet to connect.
 */
appsNeedingAuth: Array<AppSummary>, };

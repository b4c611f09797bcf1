// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { PluginAuthPolicy } from "./PluginAuthPolicy";
import type { PluginInstallPolicy } from "./PluginInstallPolicy";
import type { PluginInterface } from "./PluginInterface";
import type { PluginSource } from "./PluginSource";

/**
 * What a list shows of a plugin.
 */
export type PluginSummary = { 
/**
 * `<plugin>@<marketplace>`.
 */
id: string, name: string, source: PluginSource, 
/**
 * Whether its files are installed for this user.
 */
installed: boolean, 
/**
 * Whether the configuration switches it on.
 */
enabled: boolean, installPolicy: PluginInstallPolicy, authPolicy: PluginAuthPolicy, interface: PluginInterface | null, };

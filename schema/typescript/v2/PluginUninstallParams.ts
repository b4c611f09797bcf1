// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `plugin/uninstall`.
 */
export type PluginUninstallParams = { 
/**
 * `<plugin>@<marketplace>`; not being installed is no error.
 */
pluginId: string, 
/**
 * Uninstalls it for the account as well.
 */
forceRemoteSync?: boolean, };

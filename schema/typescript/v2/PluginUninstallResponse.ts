// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `plugin/uninstall`.
 */
export type PluginUninstallResponse = Record<string, never>;

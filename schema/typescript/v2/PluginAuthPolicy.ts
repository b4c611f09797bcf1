// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * When a plugin's apps ask for a login.
 */
export type PluginAuthPolicy = "ON_INSTALL" | "ON_USE";

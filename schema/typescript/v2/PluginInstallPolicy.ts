// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Whether a plugin can be installed.
 */
export type PluginInstallPolicy = "NOT_AVAILABLE" | "AVAILABLE" | "INSTALLED_BY_DEFAULT";

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { PluginDetail } from "./PluginDetail";

/**
 * Result of `plugin/read`.
 */
export type PluginReadResponse = { plugin: PluginDetail, };

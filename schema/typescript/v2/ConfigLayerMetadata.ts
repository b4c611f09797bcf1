// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConfigLayerSource } from "./ConfigLayerSource";

/**
 * One source of settings.
 */
export type ConfigLayerMetadata = { name: ConfigLayerSource, 
/**
 * Changes with the content: `sha256:` and a hash in hex.
 */
version: string, };

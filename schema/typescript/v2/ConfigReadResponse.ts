// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { Config } from "./Config";
import type { ConfigLayer } from "./ConfigLayer";
import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";

/**
 * Result of `config/read`.
 */
export type ConfigReadResponse = { 
/**
 * The effective values, without those of the selected profile.
 */
config: Config, 
/**
 * For each single value that a layer sets, by dotted path, the layer that won.
 */
origins: { [key in string]?: ConfigLayerMetadata }, 
/**
 * The strongest first, disabled ones included; absent unless asked for.
 */
layers: Array<ConfigLayer> | null, };

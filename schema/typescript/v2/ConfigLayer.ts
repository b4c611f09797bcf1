// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConfigLayerSource } from "./ConfigLayerSource";
import type { JsonValue } from "../serde_json/JsonValue";

/**
 * One source of settings, with what it sets.
 */
export type ConfigLayer = { name: ConfigLayerSource, 
/**
 * Changes with the content: `sha256:` and a hash in hex.
 */
version: string, 
/**
 * The values of this layer alone.
 */
config: JsonValue, 
/**
 * Why the layer does not count, such as an untrusted project; absent if it counts.
 */
disabledReason: string | null, };

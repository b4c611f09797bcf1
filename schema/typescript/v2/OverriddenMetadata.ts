// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConfigLayerMetadata } from "./ConfigLayerMetadata";
import type { JsonValue } from "../serde_json/JsonValue";

/**
 * Why a written value does not take effect.
 */
export type OverriddenMetadata = { 
/**
 * The reason in words, naming the stronger layer.
 */
message: string, overridingLayer: ConfigLayerMetadata, 
/**
 * The value that counts instead.
 */
effectiveValue: JsonValue, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";
import type { MergeStrategy } from "./MergeStrategy";

/**
 * One edit of several.
 */
export type ConfigEdit = { 
/**
 * The dotted path of the key; keys that themselves contain a dot cannot be addressed.
 */
keyPath: string, 
/**
 * The new value; null deletes the key.
 */
value: JsonValue, mergeStrategy: MergeStrategy, };

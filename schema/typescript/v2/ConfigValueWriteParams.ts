// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";
import type { MergeStrategy } from "./MergeStrategy";

/**
 * Parameters of `config/value/write`.
 */
export type ConfigValueWriteParams = { 
/**
 * The dotted path of the key; keys that themselves contain a dot cannot be addressed.
 */
keyPath: string, 
/**
 * The new value; null deletes the key.
 */
value: JsonValue, mergeStrategy: MergeStrategy, 
/**
 * Must be the user's `config.toml`, which is also the default.
 */
filePath?: string | null, 
/**
 * The `version` of the user layer that the client knows; if it has changed, nothing is
 * written.
 */
expectedVersion?: string | null, };

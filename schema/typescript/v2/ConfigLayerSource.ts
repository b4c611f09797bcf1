// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";

/**
 * Where a layer comes from; each kind here wins over the ones before it.
 */
export type ConfigLayerSource = { "type": "mdm", domain: string, key: string, } | { "type": "system", 
/**
 * `/etc/codex/config.toml`, which need not exist.
 */
file: AbsolutePathBuf, } | { "type": "user", 
/**
 * `config.toml` in the Codex home, which need not exist.
 */
file: AbsolutePathBuf, } | { "type": "project", 
/**
 * A `.codex` directory between the project's root and the working directory.
 */
dotCodexFolder: AbsolutePathBuf, } | { "type": "sessionFlags" } | { "type": "legacyManagedConfigTomlFromFile", 
/**
 * `/etc/codex/managed_config.toml`.
 */
file: AbsolutePathBuf, } | { "type": "legacyManagedConfigTomlFromMdm" };

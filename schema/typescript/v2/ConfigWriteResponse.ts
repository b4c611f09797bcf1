// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";
import type { OverriddenMetadata } from "./OverriddenMetadata";
import type { WriteStatus } from "./WriteStatus";

/**
 * Result of `config/value/write` and `config/batchWrite`.
 */
export type ConfigWriteResponse = { status: WriteStatus, 
/**
 * The user layer's new version, to give as the next `expectedVersion`.
 */
version: string, filePath: AbsolutePathBuf, 
/**
 * Set with `okOverridden`, about the first value concerned.
 */
overriddenMetadata: OverriddenMetadata | null, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ConfigRequirements } from "./ConfigRequirements";

/**
 * Result of `configRequirements/read`.
 */
export type ConfigRequirementsReadResponse = { 
/**
 * Null if nothing is demanded.
 */
requirements: ConfigRequirements | null, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { ExperimentalFeatureStage } from "./ExperimentalFeatureStage";

/**
 * A feature that can be switched on and off.
 */
export type ExperimentalFeature = { 
/**
 * The key in the table `[features]`.
 */
name: string, stage: ExperimentalFeatureStage, 
/**
 * Null unless in `beta`.
 */
displayName: string | null, 
/**
 * Null unless in `beta`.
 */
description: string | null, 
/**
 * Null unless in `beta`.
 */
announcement: string | null, 
/**
 * Whether it is on now.
 */
enabled: boolean, 
/**
 * Whether it is on if nothing is configured.
 */
defaultEnabled: boolean, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { JsonValue } from "../serde_json/JsonValue";

/**
 * The table `[analytics]`.
 */
export type AnalyticsConfig = { 
/**
 * Whether data about use is sent to the provider.
 */
enabled: boolean | null, } & ({ [key in string]?: JsonValue });

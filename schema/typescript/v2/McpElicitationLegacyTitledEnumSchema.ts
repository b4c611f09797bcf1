// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationStringType } from "./McpElicitationStringType";

/**
 * A field with one choice, with the names to show in a list of their own.
 */
export type McpElicitationLegacyTitledEnumSchema = { type: McpElicitationStringType, title?: string, description?: string, enum: Array<string>, 
/**
 * What is shown for each of the values, in the same order.
 */
enumNames?: Array<string>, default?: string, };

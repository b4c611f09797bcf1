// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationStringType } from "./McpElicitationStringType";

/**
 * A field with one choice, shown as it is.
 */
export type McpElicitationUntitledSingleSelectEnumSchema = { type: McpElicitationStringType, title?: string, description?: string, enum: Array<string>, default?: string, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationStringType } from "./McpElicitationStringType";

/**
 * The choices of a field, shown as they are.
 */
export type McpElicitationUntitledEnumItems = { type: McpElicitationStringType, enum: Array<string>, };

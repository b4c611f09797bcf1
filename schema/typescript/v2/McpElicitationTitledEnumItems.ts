// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { McpElicitationConstOption } from "./McpElicitationConstOption";

/**
 * The choices of a field, with names to show.
 */
export type McpElicitationTitledEnumItems = { anyOf: Array<McpElicitationConstOption>, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The `type` of a yes-or-no field.
 */
export type McpElicitationBooleanType = "boolean";

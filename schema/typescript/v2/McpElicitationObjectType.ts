// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The `type` of a form.
 */
export type McpElicitationObjectType = "object";

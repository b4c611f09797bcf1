// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How closely the model looks at an image.
 */
export type ImageDetail = "auto" | "low" | "high" | "original";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How closely the model looks at a picture.
 */
export type ImageDetail = "auto" | "low" | "high" | "original";

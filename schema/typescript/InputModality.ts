// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A kind of input.
 */
export type InputModality = "text" | "image";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A kind of turn that takes no input.
 */
export type NonSteerableTurnKind = "review" | "compact";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `turn/interrupt`.
 */
export type TurnInterruptResponse = Record<string, never>;

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `turn/steer`.
 */
export type TurnSteerResponse = { turnId: string, };

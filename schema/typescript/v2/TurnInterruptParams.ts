// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `turn/interrupt`.
 */
export type TurnInterruptParams = { threadId: string, turnId: string, };

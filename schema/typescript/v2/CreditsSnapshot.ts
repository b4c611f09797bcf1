// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The prepaid credits of an account.
 */
export type CreditsSnapshot = { hasCredits: boolean, 
/**
 * Whether use is not limited by the balance.
 */
unlimited: boolean, 
/**
 * The balance in the provider's own notation, for display.
 */
balance: string | null, };

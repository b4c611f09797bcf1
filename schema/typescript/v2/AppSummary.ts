// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a plugin shows of an app.
 */
export type AppSummary = { id: string, name: string, description: string | null, 
/**
 * The page on which the user can connect it.
 */
installUrl: string | null, 
/**
 * Whether the user has yet to connect it.
 */
needsAuth: boolean, };

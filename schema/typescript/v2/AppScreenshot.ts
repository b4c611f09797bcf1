// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * An image of an app in use.
 */
export type AppScreenshot = { url: string | null, fileId: string | null, 
/**
 * What the user said in it.
 */
userPrompt: string, };

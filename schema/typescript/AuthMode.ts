// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * How requests to OpenAI are authenticated.
 */
export type AuthMode = "apikey" | "chatgpt" | "chatgptAuthTokens";

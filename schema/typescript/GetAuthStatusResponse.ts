// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AuthMode } from "./AuthMode";

/**
 * Result of `getAuthStatus`.
 */
export type GetAuthStatusResponse = { 
/**
 * Null when nobody is logged in, and when the configured provider needs no login.
 */
authMethod: AuthMode | null, 
/**
 * Null unless asked for.
 */
authToken: string | null, 
/**
 * Whether the configured model provider works only with an OpenAI login.
 */
requiresOpenaiAuth: boolean | null, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `windowsSandbox/setupStart`.
 */
export type WindowsSandboxSetupStartResponse = { 
/**
 * True; `windowsSandbox/setupCompleted` reports how it went.
 */
started: boolean, };

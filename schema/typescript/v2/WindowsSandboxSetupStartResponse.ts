// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Result of `windowsSandbox/setupStart`.
 */
export type WindowsSandboxSetupStartResponse = { 
/**
 * True; how it went, `windowsSandbox/setupCompleted` tells.
 */
started: boolean, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * With which rights the sandbox is set up.
 */
export type WindowsSandboxSetupMode = "elevated" | "unelevated";

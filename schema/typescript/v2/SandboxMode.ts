// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What commands may do on their own, in one word.
 */
export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

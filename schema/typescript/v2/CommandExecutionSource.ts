// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Who started a command, and how.
 */
export type CommandExecutionSource = "agent" | "userShell" | "unifiedExecStartup" | "unifiedExecInteraction";

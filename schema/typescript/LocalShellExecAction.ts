// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a local shell call runs.
 */
export type LocalShellExecAction = { 
/**
 * The program and its arguments.
 */
command: Array<string>, timeout_ms: bigint | null, working_directory: string | null, env: { [key in string]?: string } | null, 
/**
 * The user to run it as.
 */
user: string | null, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The table `[sandbox_workspace_write]`.
 */
export type SandboxWorkspaceWrite = { 
/**
 * Directories to write in besides the working directory.
 */
writable_roots: Array<string>, network_access: boolean, 
/**
 * Forbids writing in the directory that `TMPDIR` names.
 */
exclude_tmpdir_env_var: boolean, 
/**
 * Forbids writing in `/tmp`.
 */
exclude_slash_tmp: boolean, };

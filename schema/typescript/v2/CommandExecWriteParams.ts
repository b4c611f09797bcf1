// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `command/exec/write`.
 */
export type CommandExecWriteParams = { processId: string, 
/**
 * Bytes to write, in base64 with padding; needed unless `closeStdin` is set.
 */
deltaBase64?: string | null, 
/**
 * Closes standard input, after the bytes if there are any.
 */
closeStdin?: boolean, };

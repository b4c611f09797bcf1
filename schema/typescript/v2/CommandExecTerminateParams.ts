// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * Parameters of `command/exec/terminate`.
 */
export type CommandExecTerminateParams = { processId: string, };

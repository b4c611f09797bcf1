// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CommandExecTerminalSize } from "./CommandExecTerminalSize";

/**
 * Parameters of `command/exec/resize`.
 */
export type CommandExecResizeParams = { processId: string, size: CommandExecTerminalSize, };

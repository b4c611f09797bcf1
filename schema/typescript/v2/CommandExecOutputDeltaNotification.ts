// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CommandExecOutputStream } from "./CommandExecOutputStream";

/**
 * Parameters of the notification `command/exec/outputDelta`.
 */
export type CommandExecOutputDeltaNotification = { processId: string, stream: CommandExecOutputStream, 
/**
 * The next bytes of the stream, in base64.
 */
deltaBase64: string, 
/**
 * The cap is full: the rest of this stream is dropped while the command runs on.
 */
capReached: boolean, };

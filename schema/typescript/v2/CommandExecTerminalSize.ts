// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The size of a terminal in character cells; neither number may be 0.
 */
export type CommandExecTerminalSize = { rows: number, cols: number, };

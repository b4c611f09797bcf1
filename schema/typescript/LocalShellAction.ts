// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { LocalShellExecAction } from "./LocalShellExecAction";

/**
 * What a local shell call does.
 */
export type LocalShellAction = { "type": "exec" } & LocalShellExecAction;

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";
import type { WindowsSandboxSetupMode } from "./WindowsSandboxSetupMode";

/**
 * Parameters of `windowsSandbox/setupStart`.
 */
export type WindowsSandboxSetupStartParams = { mode: WindowsSandboxSetupMode, 
/**
 * The workspace to set it up for.
 */
cwd?: AbsolutePathBuf | null, };

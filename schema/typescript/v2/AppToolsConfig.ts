// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AppToolApproval } from "./AppToolApproval";

/**
 * The tools of an app, by name.
 */
export type AppToolsConfig = ({ [key in string]?: { approval_mode: AppToolApproval | null, enabled: boolean | null, } });

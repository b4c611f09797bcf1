// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AskForApproval } from "./AskForApproval";
import type { ResidencyRequirement } from "./ResidencyRequirement";
import type { SandboxMode } from "./SandboxMode";
import type { WebSearchMode } from "../WebSearchMode";

/**
 * What an administrator demands; null where nothing is demanded.
 */
export type ConfigRequirements = { allowedApprovalPolicies: Array<AskForApproval> | null, 
/**
 * Always has `read-only` in it.
 */
allowedSandboxModes: Array<SandboxMode> | null, 
/**
 * Always has `disabled` in it.
 */
allowedWebSearchModes: Array<WebSearchMode> | null, 
/**
 * Features that are fixed on or off, by name.
 */
featureRequirements: { [key in string]?: boolean } | null, 
/**
 * Where the provider must process requests.
 */
enforceResidency: ResidencyRequirement | null, };

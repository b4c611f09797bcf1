// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { AbsolutePathBuf } from "../AbsolutePathBuf";
import type { AppSummary } from "./AppSummary";
import type { PluginSummary } from "./PluginSummary";
import type { SkillSummary } from "./SkillSummary";

/**
 * A plugin with all that it brings.
 */
export type PluginDetail = { marketplaceName: string, marketplacePath: AbsolutePathBuf, summary: PluginSummary, description: string | null, 
/**
 * Named `<plugin>:<skill>`.
 */
skills: Array<SkillSummary>, apps: Array<AppSummary>, 
/**
 * The names of MCP servers, sorted.
 */
mcpServers: Array<string>, };

// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { WebSearchToolConfig } from "../WebSearchToolConfig";

/**
 * The table `[tools]`.
 */
export type ToolsV2 = { web_search: WebSearchToolConfig | null, 
/**
 * Whether the model may look at image files; `true` if null.
 */
view_image: boolean | null, };

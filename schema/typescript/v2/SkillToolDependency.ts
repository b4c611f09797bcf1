// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * A tool that a skill needs.
 */
export type SkillToolDependency = { 
/**
 * The kind of tool, such as an MCP server.
 */
type: string, 
/**
 * The name of the tool.
 */
value: string, description?: string, 
/**
 * How an MCP server is reached.
 */
transport?: string, 
/**
 * What starts an MCP server.
 */
command?: string, 
/**
 * Where an MCP server is.
 */
url?: string, };

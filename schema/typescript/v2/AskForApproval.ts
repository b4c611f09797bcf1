// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * When the agent asks before it acts.
 */
export type AskForApproval = "untrusted" | "on-failure" | "on-request" | { "granular": { 
/**
 * Whether commands and patches may ask to go beyond the sandbox.
 */
sandbox_approval: boolean, 
/**
 * Whether rules about commands may demand a question.
 */
rules: boolean, 
/**
 * Whether skills may ask.
 */
skill_approval: boolean, 
/**
 * Whether the model may ask for more permissions.
 */
request_permissions: boolean, 
/**
 * Whether MCP servers may ask.
 */
mcp_elicitations: boolean, } } | "never";

// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * The ChatGPT plan of an account.
 */
export type PlanType = "free" | "go" | "plus" | "pro" | "team" | "self_serve_business_usage_based" | "business" | "enterprise_cbp_usage_based" | "enterprise" | "edu" | "unknown";

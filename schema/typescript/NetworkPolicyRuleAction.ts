// GENERATED CODE! DO NOT MODIFY BY HAND!

/**
 * What a rule does with its host.
 */
export type NetworkPolicyRuleAction = "allow" | "deny";

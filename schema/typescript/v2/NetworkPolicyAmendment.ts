// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { NetworkPolicyRuleAction } from "./NetworkPolicyRuleAction";

/**
 * A rule about one host, saved for later requests.
 */
export type NetworkPolicyAmendment = { host: string, action: NetworkPolicyRuleAction, };

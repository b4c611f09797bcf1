// GENERATED CODE! DO NOT MODIFY BY HAND!

import type { CommandAction } from "./CommandAction";
import type { ExecPolicyAmendment } from "./ExecPolicyAmendment";
import type { NetworkApprovalContext } from "./NetworkApprovalContext";
import type { NetworkPolicyAmendment } from "./NetworkPolicyAmendment";

/**
 * Parameters of the request `item/commandExecution/requestApproval`.
 */
export type CommandExecutionRequestApprovalParams = { threadId: string, turnId: string, 
/**
 * The `commandExecution` item, which `item/started` may not have announced yet.
 */
itemId: string, 
/**
 * Tells apart several questions about one item; absent if there is only one.
 */
approvalId?: string | null, 
/**
 * Why the question comes up: the model's reason, a matching rule, a failed sandboxed run.
 */
reason?: string | null, 
/**
 * Set when the question is about a host; the members about a command are then absent.
 */
networkApprovalContext?: NetworkApprovalContext | null, 
/**
 * The command line with shell quoting, as in the item.
 */
command?: string | null, cwd?: string | null, 
/**
 * What the command seems to do, for display.
 */
commandActions?: Array<CommandAction> | null, 
/**
 * A prefix that `acceptWithExecpolicyAmendment` could allow; absent if none is suitable.
 */
proposedExecpolicyAmendment?: ExecPolicyAmendment | null, 
/**
 * Rules that `applyNetworkPolicyAmendment` could save.
 */
proposedNetworkPolicyAmendments?: Array<NetworkPolicyAmendment> | null, };

//! Who answers what a server asks: approvals, tool calls, questions to the user, fresh tokens.
//!
//! Every kind of question has a safe default, so a program implements only what it cares about and
//! no turn ever waits for an answer that does not come.

use std::future::{Future, ready};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_rpc::{ErrorObject, codes};
use quipu_wire::{
    ApplyPatchApprovalParams, ApplyPatchApprovalResponse, ChatgptAuthTokensRefreshParams,
    ChatgptAuthTokensRefreshResponse, CommandExecutionApprovalDecision,
    CommandExecutionRequestApprovalParams, CommandExecutionRequestApprovalResponse,
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    ExecCommandApprovalParams, ExecCommandApprovalResponse, FileChangeApprovalDecision,
    FileChangeRequestApprovalParams, FileChangeRequestApprovalResponse, GrantedPermissionProfile,
    Json, McpServerElicitationAction, McpServerElicitationRequestParams,
    McpServerElicitationRequestResponse, PermissionGrantScope, PermissionsRequestApprovalParams,
    PermissionsRequestApprovalResponse, ReviewDecision, ServerRequest, ToolRequestUserInputParams,
    ToolRequestUserInputResponse,
};
use serde::Serialize;

/// Answers the server's questions. Implement the methods that matter, usually as `async fn`:
///
/// ```
/// use quipu_client::Handler;
/// use quipu_client::wire::{
///     CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams,
/// };
///
/// struct OnlyTests;
///
/// impl Handler for OnlyTests {
///     async fn approve_command(&self, request: CommandExecutionRequestApprovalParams) -> Decision {
///         match request.command.as_deref() {
///             Some(command) if command.contains("cargo test") => Decision::Accept,
///             _ => Decision::Decline,
///         }
///     }
/// }
/// ```
///
/// Each question is answered in a task of its own: a slow answer holds up neither other questions
/// nor calls nor events. If a method panics, or takes longer than
/// [`Timeouts::handler`](crate::Timeouts::handler), the safe default is answered in its place. If the
/// server no longer wants the answer, the method's future is dropped. As in any task, do not block
/// the thread: hand what blocks to `tokio::task::spawn_blocking`.
pub trait Handler: Send + Sync + 'static {
    /// Answers any question as it came, before it is understood. Default: nothing, which leaves it to the methods
    /// below.
    fn intercept(
        &self,
        _method: &str,
        _params: &Json,
    ) -> impl Future<Output = Option<Result<Json, ErrorObject>>> + Send {
        ready(None)
    }

    /// May this command run? Default: it is declined, and the turn goes on without it.
    fn approve_command(
        &self,
        _request: CommandExecutionRequestApprovalParams,
    ) -> impl Future<Output = CommandExecutionApprovalDecision> + Send {
        ready(CommandExecutionApprovalDecision::Decline)
    }

    /// May these files be changed? Default: it is declined, and the turn goes on without it.
    fn approve_file_change(
        &self,
        _request: FileChangeRequestApprovalParams,
    ) -> impl Future<Output = FileChangeApprovalDecision> + Send {
        ready(FileChangeApprovalDecision::Decline)
    }

    /// May the agent do more than its sandbox allows? Default: nothing more is granted.
    fn approve_permissions(
        &self,
        _request: PermissionsRequestApprovalParams,
    ) -> impl Future<Output = PermissionsRequestApprovalResponse> + Send {
        ready(PermissionsRequestApprovalResponse {
            permissions: GrantedPermissionProfile {
                network: None,
                file_system: None,
            },
            scope: PermissionGrantScope::Turn,
            strict_auto_review: false,
        })
    }

    /// What does the user say to these questions of the agent? Default: nothing; they count as
    /// unanswered.
    fn answer_questions(
        &self,
        _request: ToolRequestUserInputParams,
    ) -> impl Future<Output = ToolRequestUserInputResponse> + Send {
        ready(ToolRequestUserInputResponse {
            answers: Default::default(),
        })
    }

    /// What does the user say to an MCP server? Default: the question is declined.
    fn answer_elicitation(
        &self,
        _request: McpServerElicitationRequestParams,
    ) -> impl Future<Output = McpServerElicitationRequestResponse> + Send {
        ready(McpServerElicitationRequestResponse {
            action: McpServerElicitationAction::Decline,
            content: None,
            meta: None,
        })
    }

    /// Runs a tool that the client gave a thread in `dynamicTools`. Default: it fails, and the model
    /// is told that there is no such tool.
    fn call_tool(
        &self,
        request: DynamicToolCallParams,
    ) -> impl Future<Output = DynamicToolCallResponse> + Send {
        ready(DynamicToolCallResponse {
            content_items: vec![DynamicToolCallOutputContentItem::InputText {
                text: format!("The client has no tool named `{}`.", request.tool),
            }],
            success: false,
        })
    }

    /// Gets new tokens for an account whose tokens the client manages. Default: an error, with which
    /// the model request that needed them fails.
    fn refresh_tokens(
        &self,
        _request: ChatgptAuthTokensRefreshParams,
    ) -> impl Future<Output = Result<ChatgptAuthTokensRefreshResponse, ErrorObject>> + Send {
        ready(Err(ErrorObject::new(
            codes::METHOD_NOT_FOUND,
            "this client does not manage tokens",
        )))
    }

    /// May this patch be applied? Asked by old servers, and in threads with `legacy_approvals`. Default: it is denied.
    fn approve_legacy_patch(
        &self,
        _request: ApplyPatchApprovalParams,
    ) -> impl Future<Output = ReviewDecision> + Send {
        ready(ReviewDecision::Denied)
    }

    /// May this command run? Asked by old servers, and in threads with `legacy_approvals`. Default: it is denied.
    fn approve_legacy_command(
        &self,
        _request: ExecCommandApprovalParams,
    ) -> impl Future<Output = ReviewDecision> + Send {
        ready(ReviewDecision::Denied)
    }

    /// A question that this version does not know. Default: an error that says so, which lets the
    /// server go on.
    fn answer_unknown(
        &self,
        method: String,
        _params: Json,
    ) -> impl Future<Output = Result<Json, ErrorObject>> + Send {
        ready(Err(ErrorObject::new(
            codes::METHOD_NOT_FOUND,
            format!("this client does not know `{method}`"),
        )))
    }
}

/// All defaults.
pub(crate) struct Defaults;

impl Handler for Defaults {}

/// A [`Handler`] of any type: one question in, one answer out.
pub(crate) trait Answers: Send + Sync {
    fn intercept<'a>(
        &'a self,
        method: &'a str,
        params: &'a Json,
    ) -> BoxFuture<'a, Option<Result<Json, ErrorObject>>>;

    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Json, ErrorObject>>;
}

impl<H: Handler> Answers for H {
    fn intercept<'a>(
        &'a self,
        method: &'a str,
        params: &'a Json,
    ) -> BoxFuture<'a, Option<Result<Json, ErrorObject>>> {
        Handler::intercept(self, method, params).boxed()
    }

    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Json, ErrorObject>> {
        use ServerRequest as Ask;
        match request {
            Ask::ItemCommandExecutionRequestApproval(it) => self
                .approve_command(it)
                .map(|decision| json(&CommandExecutionRequestApprovalResponse { decision }))
                .boxed(),
            Ask::ItemFileChangeRequestApproval(it) => self
                .approve_file_change(it)
                .map(|decision| json(&FileChangeRequestApprovalResponse { decision }))
                .boxed(),
            Ask::ItemPermissionsRequestApproval(it) => {
                self.approve_permissions(it).map(|it| json(&it)).boxed()
            }
            Ask::ItemToolRequestUserInput(it) => {
                self.answer_questions(it).map(|it| json(&it)).boxed()
            }
            Ask::McpServerElicitationRequest(it) => {
                self.answer_elicitation(it).map(|it| json(&it)).boxed()
            }
            Ask::ItemToolCall(it) => self.call_tool(it).map(|it| json(&it)).boxed(),
            Ask::AccountChatgptAuthTokensRefresh(it) => self
                .refresh_tokens(it)
                .map(|tokens| tokens.and_then(|tokens| json(&tokens)))
                .boxed(),
            Ask::ApplyPatchApproval(it) => self
                .approve_legacy_patch(it)
                .map(|decision| json(&ApplyPatchApprovalResponse { decision }))
                .boxed(),
            Ask::ExecCommandApproval(it) => self
                .approve_legacy_command(it)
                .map(|decision| json(&ExecCommandApprovalResponse { decision }))
                .boxed(),
            Ask::Unrecognized { method, params } => self.answer_unknown(method, params).boxed(),
        }
    }
}

fn json<T: Serialize>(answer: &T) -> Result<Json, ErrorObject> {
    Json::new(answer).map_err(|error| {
        ErrorObject::internal(format!("the answer cannot be written as JSON: {error}"))
    })
}

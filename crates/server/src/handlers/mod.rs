//! One file per method: what the server does when a client asks.

mod account_bedrock_check_gov_cloud_requirements;
mod account_login_cancel;
mod account_login_start;
mod account_logout;
mod account_rate_limits_read;
mod account_read;
mod app_list;
mod collaboration_mode_list;
mod command_exec;
mod command_exec_resize;
mod command_exec_terminate;
mod command_exec_write;
mod config_batch_write;
mod config_mcp_server_reload;
mod config_read;
mod config_requirements_read;
mod config_value_write;
mod environment;
mod experimental_feature_enablement_set;
mod experimental_feature_list;
mod external_agent_config_detect;
mod external_agent_config_import;
mod feedback_upload;
mod fs_copy;
mod fs_create_directory;
mod fs_get_metadata;
mod fs_read_directory;
mod fs_read_file;
mod fs_remove;
mod fs_unwatch;
mod fs_watch;
mod fs_write_file;
mod fuzzy_file_search;
mod fuzzy_file_search_session_start;
mod fuzzy_file_search_session_stop;
mod fuzzy_file_search_session_update;
mod get_auth_status;
mod get_conversation_summary;
mod git_diff_to_remote;
mod hooks_list;
mod initialize;
mod marketplace;
mod mcp_server_oauth_login;
mod mcp_server_status_list;
mod mcp_server_tool_call;
mod mock_experimental_method;
mod model_list;
mod model_provider_capabilities_read;
mod permission_profile_list;
mod plugin_install;
mod plugin_installed;
mod plugin_list;
mod plugin_read;
mod plugin_uninstall;
mod process;
mod review_start;
mod server_diagnostics;
mod skills_config_write;
mod skills_extra_roots_set;
mod skills_list;
mod thread_archive;
mod thread_attachment;
mod thread_background_terminals_clean;
mod thread_background_terminals_list;
mod thread_compact_start;
mod thread_delete;
mod thread_elicitation;
mod thread_fork;
mod thread_goal;
mod thread_inject_items;
mod thread_items_list;
mod thread_items_read;
mod thread_list;
mod thread_loaded_list;
mod thread_metadata_update;
mod thread_name_set;
mod thread_queue;
mod thread_read;
mod thread_read_state_update;
mod thread_realtime;
mod thread_resume;
mod thread_revert;
mod thread_rollback;
mod thread_sample;
mod thread_search;
mod thread_search_occurrences;
mod thread_section;
mod thread_settings_update;
mod thread_shell_command;
mod thread_start;
mod thread_timeline_list;
mod thread_turns_list;
mod thread_unarchive;
mod thread_unsubscribe;
mod turn_interrupt;
mod turn_settings_update;
mod turn_start;
mod turn_steer;
mod windows_sandbox_readiness;
mod windows_sandbox_setup_start;

use std::future::Future;

use quipu_wire::method::ClientMethod;

use crate::{Cx, Refusal, Reply};

/// Answers requests of one method.
pub(crate) trait Handler: ClientMethod + Sized + 'static {
    /// The longest params that are decoded, in bytes. Decoding and what follows hold several copies.
    const MAX_PARAMS_BYTES: usize = usize::MAX;

    fn run(
        cx: Cx,
        params: Self::Params,
    ) -> impl Future<Output = Result<Self::Result, Refusal>> + Send + 'static;
}

/// Answers requests of one method and does more after the answer, or lets a thread answer. It never waits for a
/// turn to end.
pub(crate) trait ReplyHandler: ClientMethod + Sized + 'static {
    /// See [`Handler::MAX_PARAMS_BYTES`].
    const MAX_PARAMS_BYTES: usize = usize::MAX;

    fn handle(
        cx: Cx,
        params: Self::Params,
        reply: Reply<Self>,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// What the router sees of both; `Way` says which it is.
pub(crate) trait Dispatch<Way>: ClientMethod + Sized + 'static {
    const MAX_PARAMS_BYTES: usize;

    fn dispatch(
        cx: Cx,
        params: Self::Params,
        reply: Reply<Self>,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// By what [`Handler::run`] returns.
pub(crate) struct ByResult;

impl<M: Handler> Dispatch<ByResult> for M
where
    M::Result: Sync,
{
    const MAX_PARAMS_BYTES: usize = <M as Handler>::MAX_PARAMS_BYTES;

    async fn dispatch(cx: Cx, params: M::Params, reply: Reply<M>) {
        reply.send(M::run(cx, params).await).await;
    }
}

/// By the reply that a [`ReplyHandler`] sends.
pub(crate) struct ByReply;

impl<M: ReplyHandler> Dispatch<ByReply> for M {
    const MAX_PARAMS_BYTES: usize = <M as ReplyHandler>::MAX_PARAMS_BYTES;

    async fn dispatch(cx: Cx, params: M::Params, reply: Reply<M>) {
        M::handle(cx, params, reply).await;
    }
}

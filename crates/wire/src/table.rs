//! The method table: one row per method, from which the router, the client's calls, the schemas, the
//! TypeScript and the reference page are derived.
//!
//! The rows are given to a callback macro, so that other crates can derive code from them. A row of a
//! client request reads:
//!
//! `stability Name = "wire/name" (Params) -> Result, Lane;`
//!
//! `, since "0.166"` before the semicolon marks what the base version (0.118) does not have, `, until "0.118"` what later
//! versions dropped.
//!
//! `legacy` rows are stable but left out of JSON Schema, as the official server does.

/// Calls `$callback!` with the rows of all requests a client can send.
#[macro_export]
macro_rules! client_requests {
    ($callback:ident) => {
        $callback! {
            /// Opens the connection: who the client is, what it can do.
            stable Initialize = "initialize" (InitializeParams) -> InitializeResponse, Inline;
            /// Starts a new thread and subscribes the connection to its events.
            stable ThreadStart = "thread/start" (ThreadStartParams) -> ThreadStartResponse, Free;
            /// Loads a stored thread, or joins a running one, and subscribes to it.
            stable ThreadResume = "thread/resume" (ThreadResumeParams) -> ThreadResumeResponse, Thread(thread_id);
            /// Copies a thread's history into a new thread.
            stable ThreadFork = "thread/fork" (ThreadForkParams) -> ThreadForkResponse, Thread(thread_id);
            /// Moves a thread out of the ordinary lists.
            stable ThreadArchive = "thread/archive" (ThreadArchiveParams) -> ThreadArchiveResponse, Thread(thread_id);
            /// Removes a thread for good.
            stable ThreadDelete = "thread/delete" (ThreadDeleteParams) -> ThreadDeleteResponse, Thread(thread_id), since "0.166";
            /// Stops sending a thread's events to this connection; the last one unloads it.
            stable ThreadUnsubscribe = "thread/unsubscribe" (ThreadUnsubscribeParams) -> ThreadUnsubscribeResponse, Thread(thread_id);
            /// Counts one more question being shown outside the protocol, which pauses time limits.
            experimental ThreadIncrementElicitation = "thread/increment_elicitation" (ThreadIncrementElicitationParams) -> ThreadIncrementElicitationResponse, Thread(thread_id);
            /// Counts one question less.
            experimental ThreadDecrementElicitation = "thread/decrement_elicitation" (ThreadDecrementElicitationParams) -> ThreadDecrementElicitationResponse, Thread(thread_id);
            /// Gives a thread a name.
            stable ThreadNameSet = "thread/name/set" (ThreadSetNameParams) -> ThreadSetNameResponse, Thread(thread_id);
            /// Changes the git facts stored with a thread.
            stable ThreadMetadataUpdate = "thread/metadata/update" (ThreadMetadataUpdateParams) -> ThreadMetadataUpdateResponse, Thread(thread_id);
            /// Moves an archived thread back.
            stable ThreadUnarchive = "thread/unarchive" (ThreadUnarchiveParams) -> ThreadUnarchiveResponse, Thread(thread_id);
            /// Summarises a thread's history to free context.
            stable ThreadCompactStart = "thread/compact/start" (ThreadCompactStartParams) -> ThreadCompactStartResponse, Thread(thread_id);
            /// Runs a shell command of the user in the thread, outside the sandbox.
            stable ThreadShellCommand = "thread/shellCommand" (ThreadShellCommandParams) -> ThreadShellCommandResponse, Thread(thread_id);
            /// Ends the thread's background terminals.
            experimental ThreadBackgroundTerminalsClean = "thread/backgroundTerminals/clean" (ThreadBackgroundTerminalsCleanParams) -> ThreadBackgroundTerminalsCleanResponse, Thread(thread_id);
            /// Lists the thread's background terminals.
            experimental ThreadBackgroundTerminalsList = "thread/backgroundTerminals/list" (ThreadBackgroundTerminalsListParams) -> ThreadBackgroundTerminalsListResponse, Thread(thread_id), since "0.166";
            /// Ends one of the thread's background terminals.
            experimental ThreadBackgroundTerminalsTerminate = "thread/backgroundTerminals/terminate" (ThreadBackgroundTerminalsTerminateParams) -> ThreadBackgroundTerminalsTerminateResponse, Thread(thread_id), since "0.166";
            /// Drops the last turns of a thread from its history.
            stable ThreadRollback = "thread/rollback" (ThreadRollbackParams) -> ThreadRollbackResponse, Thread(thread_id), until "0.118";
            /// Drops a turn and all after it from a thread's history.
            stable ThreadRevert = "thread/revert" (ThreadRevertParams) -> ThreadRevertResponse, Thread(thread_id), since "0.166";
            /// Adds items to the model's history that clients do not see.
            stable ThreadInjectItems = "thread/inject_items" (ThreadInjectItemsParams) -> ThreadInjectItemsResponse, Thread(thread_id), since "0.166";
            /// Changes the settings of later turns.
            experimental ThreadSettingsUpdate = "thread/settings/update" (ThreadSettingsUpdateParams) -> ThreadSettingsUpdateResponse, Thread(thread_id), since "0.166";
            /// Asks the model something beside the thread, after its last turn; nothing of it is stored.
            experimental ThreadSample = "thread/sample" (ThreadSampleParams) -> ThreadSampleResponse, Inline, since "0.166";
            /// Cancels a `thread/sample` of this connection, which is then answered with an error.
            experimental ThreadSampleCancel = "thread/sample/cancel" (ThreadSampleCancelParams) -> ThreadSampleCancelResponse, Inline, since "0.166";
            /// Marks a thread as read or unread.
            experimental ThreadReadStateUpdate = "thread/readState/update" (ThreadReadStateUpdateParams) -> ThreadReadStateUpdateResponse, Thread(thread_id), since "0.166";
            /// Sets or changes the goal that the server pursues by itself.
            stable ThreadGoalSet = "thread/goal/set" (ThreadGoalSetParams) -> ThreadGoalSetResponse, Thread(thread_id), since "0.166";
            /// Reads the goal of a thread.
            stable ThreadGoalGet = "thread/goal/get" (ThreadGoalGetParams) -> ThreadGoalGetResponse, Thread(thread_id), since "0.166";
            /// Removes the goal of a thread.
            stable ThreadGoalClear = "thread/goal/clear" (ThreadGoalClearParams) -> ThreadGoalClearResponse, Thread(thread_id), since "0.166";
            /// Adds input that runs when the thread is idle.
            experimental ThreadQueueAdd = "thread/queue/add" (ThreadQueueAddParams) -> ThreadQueueAddResponse, Thread(thread_id), since "0.166";
            /// Lists the input that waits for the thread.
            experimental ThreadQueueList = "thread/queue/list" (ThreadQueueListParams) -> ThreadQueueListResponse, Thread(thread_id), since "0.166";
            /// Changes input that waits for the thread.
            experimental ThreadQueueUpdate = "thread/queue/update" (ThreadQueueUpdateParams) -> ThreadQueueUpdateResponse, Thread(thread_id), since "0.166";
            /// Removes input that waits for the thread.
            experimental ThreadQueueDelete = "thread/queue/delete" (ThreadQueueDeleteParams) -> ThreadQueueDeleteResponse, Thread(thread_id), since "0.166";
            /// Changes the order of the input that waits.
            experimental ThreadQueueReorder = "thread/queue/reorder" (ThreadQueueReorderParams) -> ThreadQueueReorderResponse, Thread(thread_id), since "0.166";
            /// Runs waiting input now.
            experimental ThreadQueueStart = "thread/queue/start" (ThreadQueueStartParams) -> ThreadQueueStartResponse, Thread(thread_id), since "0.166";
            /// Lists stored threads, a page at a time.
            stable ThreadList = "thread/list" (ThreadListParams) -> ThreadListResponse, Free;
            /// Lists the sections that threads are grouped in, a page at a time.
            stable ThreadSectionList = "threadSection/list" (ThreadSectionListParams) -> ThreadSectionListResponse, Free, since "0.166";
            /// Makes a section.
            stable ThreadSectionCreate = "threadSection/create" (ThreadSectionCreateParams) -> ThreadSectionCreateResponse, Free, since "0.166";
            /// Renames a section, or changes how it is shown.
            stable ThreadSectionUpdate = "threadSection/update" (ThreadSectionUpdateParams) -> ThreadSectionUpdateResponse, Free, since "0.166";
            /// Removes a section; its threads stay.
            stable ThreadSectionDelete = "threadSection/delete" (ThreadSectionDeleteParams) -> ThreadSectionDeleteResponse, Free, since "0.166";
            /// Moves a thread into a section, within it, or out of it.
            stable ThreadSectionMove = "thread/section/move" (ThreadSectionMoveParams) -> ThreadSectionMoveResponse, Thread(thread_id), since "0.166";
            /// Stores something with a thread.
            stable ThreadAttachmentAdd = "thread/attachment/add" (ThreadAttachmentAddParams) -> ThreadAttachmentAddResponse, Thread(thread_id), since "0.166";
            /// Lists what clients stored with a thread, a page at a time.
            stable ThreadAttachmentList = "thread/attachment/list" (ThreadAttachmentListParams) -> ThreadAttachmentListResponse, Thread(thread_id), since "0.166";
            /// Removes what a client stored with a thread.
            stable ThreadAttachmentRemove = "thread/attachment/remove" (ThreadAttachmentRemoveParams) -> ThreadAttachmentRemoveResponse, Thread(thread_id), since "0.166";
            /// Lists the threads that something is stored with, a page at a time.
            stable ThreadAttachmentOwnerList = "thread/attachmentOwner/list" (ThreadAttachmentOwnerListParams) -> ThreadAttachmentOwnerListResponse, Free, since "0.166";
            /// Lists the threads in memory.
            stable ThreadLoadedList = "thread/loaded/list" (ThreadLoadedListParams) -> ThreadLoadedListResponse, Free;
            /// Reads a stored thread without loading it.
            stable ThreadRead = "thread/read" (ThreadReadParams) -> ThreadReadResponse, Thread(thread_id);
            /// Lists the turns of a thread, a page at a time.
            stable ThreadTurnsList = "thread/turns/list" (ThreadTurnsListParams) -> ThreadTurnsListResponse, Thread(thread_id), since "0.166";
            /// Lists the items of a thread, a page at a time.
            stable ThreadItemsList = "thread/items/list" (ThreadItemsListParams) -> ThreadItemsListResponse, Thread(thread_id), since "0.166";
            /// Reads some items of a turn.
            experimental ThreadItemsRead = "thread/items/read" (ThreadItemsReadParams) -> ThreadItemsReadResponse, Thread(thread_id), since "0.166";
            /// Lists turns and items of a thread in one sequence, a page at a time, the newest page first.
            experimental ThreadTimelineList = "thread/timeline/list" (ThreadTimelineListParams) -> ThreadTimelineListResponse, Thread(thread_id), since "0.166";
            /// Finds threads by a text in their messages.
            experimental ThreadSearch = "thread/search" (ThreadSearchParams) -> ThreadSearchResponse, Free, since "0.166";
            /// Finds a text in the messages of a thread.
            experimental ThreadSearchOccurrences = "thread/searchOccurrences" (ThreadSearchOccurrencesParams) -> ThreadSearchOccurrencesResponse, Thread(thread_id), since "0.166";
            /// Lists the permission profiles that can be chosen.
            stable PermissionProfileList = "permissionProfile/list" (PermissionProfileListParams) -> PermissionProfileListResponse, Free, since "0.166";
            /// Lists the skills that apply to some directories.
            stable SkillsList = "skills/list" (SkillsListParams) -> SkillsListResponse, Free;
            /// Sets more directories in which skills are found.
            stable SkillsExtraRootsSet = "skills/extraRoots/set" (SkillsExtraRootsSetParams) -> SkillsExtraRootsSetResponse, Global(Config), since "0.166";
            /// Lists the hooks that are in force.
            stable HooksList = "hooks/list" (HooksListParams) -> HooksListResponse, Free, since "0.166";
            /// Lists the plugins of the known marketplaces.
            stable PluginList = "plugin/list" (PluginListParams) -> PluginListResponse, Free;
            /// Shows one plugin in full.
            stable PluginRead = "plugin/read" (PluginReadParams) -> PluginReadResponse, Free;
            /// Lists the installed plugins.
            stable PluginInstalled = "plugin/installed" (PluginInstalledParams) -> PluginInstalledResponse, Free, since "0.166";
            /// Searches the plugins that marketplaces of this machine offer.
            experimental PluginSearch = "plugin/search" (PluginSearchParams) -> PluginSearchResponse, Free, since "0.166";
            /// Lists apps, a page at a time.
            stable AppList = "app/list" (AppsListParams) -> AppsListResponse, Free;
            /// Reads a file.
            stable FsReadFile = "fs/readFile" (FsReadFileParams) -> FsReadFileResponse, Ordered(Files);
            /// Writes a file, whole or not at all.
            stable FsWriteFile = "fs/writeFile" (FsWriteFileParams) -> FsWriteFileResponse, Ordered(Files);
            /// Makes a directory.
            stable FsCreateDirectory = "fs/createDirectory" (FsCreateDirectoryParams) -> FsCreateDirectoryResponse, Ordered(Files);
            /// Returns what a path is and when it changed.
            stable FsGetMetadata = "fs/getMetadata" (FsGetMetadataParams) -> FsGetMetadataResponse, Ordered(Files);
            /// Lists a directory.
            stable FsReadDirectory = "fs/readDirectory" (FsReadDirectoryParams) -> FsReadDirectoryResponse, Ordered(Files);
            /// Removes a file or a tree.
            stable FsRemove = "fs/remove" (FsRemoveParams) -> FsRemoveResponse, Ordered(Files);
            /// Copies a file or a tree.
            stable FsCopy = "fs/copy" (FsCopyParams) -> FsCopyResponse, Ordered(Files);
            /// Starts notifying the connection of changes below a path.
            stable FsWatch = "fs/watch" (FsWatchParams) -> FsWatchResponse, Ordered(Files);
            /// Ends a watch.
            stable FsUnwatch = "fs/unwatch" (FsUnwatchParams) -> FsUnwatchResponse, Ordered(Files);
            /// Turns a skill on or off.
            stable SkillsConfigWrite = "skills/config/write" (SkillsConfigWriteParams) -> SkillsConfigWriteResponse, Global(Config);
            /// Installs a plugin.
            stable PluginInstall = "plugin/install" (PluginInstallParams) -> PluginInstallResponse, Global(Config);
            /// Removes a plugin.
            stable PluginUninstall = "plugin/uninstall" (PluginUninstallParams) -> PluginUninstallResponse, Global(Config);
            /// Adds a marketplace of plugins to the user's settings.
            stable MarketplaceAdd = "marketplace/add" (MarketplaceAddParams) -> MarketplaceAddResponse, Global(Config), since "0.166";
            /// Removes a marketplace that was added.
            stable MarketplaceRemove = "marketplace/remove" (MarketplaceRemoveParams) -> MarketplaceRemoveResponse, Global(Config), since "0.166";
            /// Fetches the marketplaces again that come from repositories.
            stable MarketplaceUpgrade = "marketplace/upgrade" (MarketplaceUpgradeParams) -> MarketplaceUpgradeResponse, Global(Config), since "0.166";
            /// Gives a thread input and begins a turn.
            stable TurnStart = "turn/start" (TurnStartParams) -> TurnStartResponse, Thread(thread_id);
            /// Adds input to the running turn.
            stable TurnSteer = "turn/steer" (TurnSteerParams) -> TurnSteerResponse, Thread(thread_id);
            /// Changes settings of the running turn alone, from its next request to the model on.
            experimental TurnSettingsUpdate = "turn/settings/update" (TurnSettingsUpdateParams) -> TurnSettingsUpdateResponse, Thread(thread_id), since "0.166";
            /// Ends the running turn early.
            stable TurnInterrupt = "turn/interrupt" (TurnInterruptParams) -> TurnInterruptResponse, Thread(thread_id);
            /// Opens a voice session in a thread.
            experimental ThreadRealtimeStart = "thread/realtime/start" (ThreadRealtimeStartParams) -> ThreadRealtimeStartResponse, Thread(thread_id);
            /// Sends sound to the voice session.
            experimental ThreadRealtimeAppendAudio = "thread/realtime/appendAudio" (ThreadRealtimeAppendAudioParams) -> ThreadRealtimeAppendAudioResponse, Thread(thread_id);
            /// Sends text to the voice session.
            experimental ThreadRealtimeAppendText = "thread/realtime/appendText" (ThreadRealtimeAppendTextParams) -> ThreadRealtimeAppendTextResponse, Thread(thread_id);
            /// Ends the voice session.
            experimental ThreadRealtimeStop = "thread/realtime/stop" (ThreadRealtimeStopParams) -> ThreadRealtimeStopResponse, Thread(thread_id);
            /// Begins a code review, in the thread or beside it.
            stable ReviewStart = "review/start" (ReviewStartParams) -> ReviewStartResponse, Thread(thread_id);
            /// Lists the models that can be chosen.
            stable ModelList = "model/list" (ModelListParams) -> ModelListResponse, Free;
            /// What the provider in use can do besides answering.
            stable ModelProviderCapabilitiesRead = "modelProvider/capabilities/read" (ModelProviderCapabilitiesReadParams) -> ModelProviderCapabilitiesReadResponse, Free, since "0.166";
            /// Lists optional features and their state.
            stable ExperimentalFeatureList = "experimentalFeature/list" (ExperimentalFeatureListParams) -> ExperimentalFeatureListResponse, Free;
            /// Turns optional features on or off for this process.
            stable ExperimentalFeatureEnablementSet = "experimentalFeature/enablement/set" (ExperimentalFeatureEnablementSetParams) -> ExperimentalFeatureEnablementSetResponse, Global(Config);
            /// Lists the presets for how agent and user work together.
            experimental CollaborationModeList = "collaborationMode/list" (CollaborationModeListParams) -> CollaborationModeListResponse, Free;
            /// Echoes its argument; for testing the experimental gate.
            experimental MockExperimentalMethod = "mock/experimentalMethod" (MockExperimentalMethodParams) -> MockExperimentalMethodResponse, Free;
            /// Begins the OAuth login of an MCP server.
            stable McpServerOauthLogin = "mcpServer/oauth/login" (McpServerOauthLoginParams) -> McpServerOauthLoginResponse, Free;
            /// Reads the MCP servers from the configuration again.
            stable ConfigMcpServerReload = "config/mcpServer/reload" (NoParams) -> McpServerRefreshResponse, Global(Config);
            /// Lists MCP servers with their tools and login state.
            stable McpServerStatusList = "mcpServerStatus/list" (ListMcpServerStatusParams) -> ListMcpServerStatusResponse, Free;
            /// Calls a tool of a thread's MCP server.
            stable McpServerToolCall = "mcpServer/tool/call" (McpServerToolCallParams) -> McpServerToolCallResponse, Free, since "0.166";
            /// Reads a resource of a thread's MCP server.
            stable McpServerResourceRead = "mcpServer/resource/read" (McpResourceReadParams) -> McpResourceReadResponse, Free, since "0.166";
            /// Prepares the Windows sandbox.
            stable WindowsSandboxSetupStart = "windowsSandbox/setupStart" (WindowsSandboxSetupStartParams) -> WindowsSandboxSetupStartResponse, Free;
            /// Whether the sandbox on Windows can be used.
            stable WindowsSandboxReadiness = "windowsSandbox/readiness" (NoParams) -> WindowsSandboxReadinessResponse, Free, since "0.166";
            /// Begins a login.
            stable AccountLoginStart = "account/login/start" (LoginAccountParams) -> LoginAccountResponse, Global(Account);
            /// Gives up a login that is under way.
            stable AccountLoginCancel = "account/login/cancel" (CancelLoginAccountParams) -> CancelLoginAccountResponse, Global(Account);
            /// Forgets the stored credentials.
            stable AccountLogout = "account/logout" (NoParams) -> LogoutAccountResponse, Global(Account);
            /// Asks the provider for the account's rate limits.
            stable AccountRateLimitsRead = "account/rateLimits/read" (NoParams) -> GetAccountRateLimitsResponse, Free;
            /// Whether an account of Amazon Bedrock lacks what its region requires.
            experimental AccountBedrockCheckGovCloudRequirements = "account/bedrock/checkGovCloudRequirements" (BedrockCheckGovCloudRequirementsParams) -> BedrockCheckGovCloudRequirementsResponse, Free, since "0.166";
            /// The state of the server's process.
            experimental ServerDiagnostics = "server/diagnostics" (ServerDiagnosticsParams) -> ServerDiagnosticsResponse, Free, since "0.166";
            /// Files a report about a thread.
            stable FeedbackUpload = "feedback/upload" (FeedbackUploadParams) -> FeedbackUploadResponse, Free;
            /// Runs a command outside any thread; answered when it has ended.
            stable CommandExec = "command/exec" (CommandExecParams) -> CommandExecResponse, Ordered(Commands);
            /// Writes to the standard input of a running command.
            stable CommandExecWrite = "command/exec/write" (CommandExecWriteParams) -> CommandExecWriteResponse, Ordered(Commands);
            /// Ends a running command.
            stable CommandExecTerminate = "command/exec/terminate" (CommandExecTerminateParams) -> CommandExecTerminateResponse, Ordered(Commands);
            /// Changes the terminal size of a running command.
            stable CommandExecResize = "command/exec/resize" (CommandExecResizeParams) -> CommandExecResizeResponse, Ordered(Commands);
            /// Returns the shell and the directory of an environment.
            experimental EnvironmentInfo = "environment/info" (EnvironmentInfoParams) -> EnvironmentInfoResponse, Free, since "0.166";
            /// Returns whether an environment can be used.
            experimental EnvironmentStatus = "environment/status" (EnvironmentStatusParams) -> EnvironmentStatusResponse, Free, since "0.166";
            /// Starts a process without a sandbox, which is reported on in notifications.
            experimental ProcessSpawn = "process/spawn" (ProcessSpawnParams) -> ProcessSpawnResponse, Ordered(Commands), since "0.166";
            /// Writes to the standard input of a process.
            experimental ProcessWriteStdin = "process/writeStdin" (ProcessWriteStdinParams) -> ProcessWriteStdinResponse, Ordered(Commands), since "0.166";
            /// Changes the terminal size of a process.
            experimental ProcessResizePty = "process/resizePty" (ProcessResizePtyParams) -> ProcessResizePtyResponse, Ordered(Commands), since "0.166";
            /// Ends a process.
            experimental ProcessKill = "process/kill" (ProcessKillParams) -> ProcessKillResponse, Ordered(Commands), since "0.166";
            /// Reads the configuration in force, and where each value came from.
            stable ConfigRead = "config/read" (ConfigReadParams) -> ConfigReadResponse, Global(Config);
            /// Looks for settings of other agents worth taking over.
            stable ExternalAgentConfigDetect = "externalAgentConfig/detect" (ExternalAgentConfigDetectParams) -> ExternalAgentConfigDetectResponse, Free;
            /// Takes over settings that were detected.
            stable ExternalAgentConfigImport = "externalAgentConfig/import" (ExternalAgentConfigImportParams) -> ExternalAgentConfigImportResponse, Global(Config);
            /// Changes one value of the user's configuration file.
            stable ConfigValueWrite = "config/value/write" (ConfigValueWriteParams) -> ConfigWriteResponse, Global(Config);
            /// Changes several values of the user's configuration file at once.
            stable ConfigBatchWrite = "config/batchWrite" (ConfigBatchWriteParams) -> ConfigWriteResponse, Global(Config);
            /// Reads the limits an administrator has set.
            stable ConfigRequirementsRead = "configRequirements/read" (NoParams) -> ConfigRequirementsReadResponse, Global(Config);
            /// Returns who is logged in.
            stable AccountRead = "account/read" (GetAccountParams) -> GetAccountResponse, Global(Account);
            /// Summarises a stored conversation; for clients of the first protocol version.
            legacy GetConversationSummary = "getConversationSummary" (GetConversationSummaryParams) -> GetConversationSummaryResponse, Free;
            /// Compares a repository with its remote; for clients of the first protocol version.
            legacy GitDiffToRemote = "gitDiffToRemote" (GitDiffToRemoteParams) -> GitDiffToRemoteResponse, Free;
            /// Returns how the user is logged in; for clients of the first protocol version.
            legacy GetAuthStatus = "getAuthStatus" (GetAuthStatusParams) -> GetAuthStatusResponse, Global(Account);
            /// Finds files by an approximate name.
            stable FuzzyFileSearch = "fuzzyFileSearch" (FuzzyFileSearchParams) -> FuzzyFileSearchResponse, Free;
            /// Opens a search that stays up to date while the user types.
            experimental FuzzyFileSearchSessionStart = "fuzzyFileSearch/sessionStart" (FuzzyFileSearchSessionStartParams) -> FuzzyFileSearchSessionStartResponse, Ordered(Search);
            /// Changes the query of an open search.
            experimental FuzzyFileSearchSessionUpdate = "fuzzyFileSearch/sessionUpdate" (FuzzyFileSearchSessionUpdateParams) -> FuzzyFileSearchSessionUpdateResponse, Ordered(Search);
            /// Closes an open search.
            experimental FuzzyFileSearchSessionStop = "fuzzyFileSearch/sessionStop" (FuzzyFileSearchSessionStopParams) -> FuzzyFileSearchSessionStopResponse, Ordered(Search);
        }
    };
}

/// Calls `$callback!` with the rows of all requests a server can send.
#[macro_export]
macro_rules! server_requests {
    ($callback:ident) => {
        $callback! {
            /// Asks whether a command may run.
            ItemCommandExecutionRequestApproval = "item/commandExecution/requestApproval" (CommandExecutionRequestApprovalParams) -> CommandExecutionRequestApprovalResponse;
            /// Asks whether file changes may be made.
            ItemFileChangeRequestApproval = "item/fileChange/requestApproval" (FileChangeRequestApprovalParams) -> FileChangeRequestApprovalResponse;
            /// Asks the user questions on behalf of the agent.
            ItemToolRequestUserInput = "item/tool/requestUserInput" (ToolRequestUserInputParams) -> ToolRequestUserInputResponse;
            /// Asks the user something on behalf of an MCP server.
            McpServerElicitationRequest = "mcpServer/elicitation/request" (McpServerElicitationRequestParams) -> McpServerElicitationRequestResponse;
            /// Asks for wider permissions.
            ItemPermissionsRequestApproval = "item/permissions/requestApproval" (PermissionsRequestApprovalParams) -> PermissionsRequestApprovalResponse;
            /// Runs a tool that the client provides.
            ItemToolCall = "item/tool/call" (DynamicToolCallParams) -> DynamicToolCallResponse;
            /// Asks the client, which manages the tokens, for new ones.
            AccountChatgptAuthTokensRefresh = "account/chatgptAuthTokens/refresh" (ChatgptAuthTokensRefreshParams) -> ChatgptAuthTokensRefreshResponse;
            /// Asks whether a patch may be applied; for clients of the first protocol version.
            ApplyPatchApproval = "applyPatchApproval" (ApplyPatchApprovalParams) -> ApplyPatchApprovalResponse;
            /// Asks whether a command may run; for clients of the first protocol version.
            ExecCommandApproval = "execCommandApproval" (ExecCommandApprovalParams) -> ExecCommandApprovalResponse;
        }
    };
}

/// Calls `$callback!` with the rows of all notifications a server can send.
#[macro_export]
macro_rules! server_notifications {
    ($callback:ident) => {
        $callback! {
            /// Something went wrong in a turn; says whether it will be tried again.
            Error = "error" (ErrorNotification);
            /// A thread was started.
            ThreadStarted = "thread/started" (ThreadStartedNotification);
            /// A loaded thread's status changed.
            ThreadStatusChanged = "thread/status/changed" (ThreadStatusChangedNotification);
            /// A thread was archived.
            ThreadArchived = "thread/archived" (ThreadArchivedNotification);
            /// A thread was moved back from the archive.
            ThreadUnarchived = "thread/unarchived" (ThreadUnarchivedNotification);
            /// A thread was removed for good.
            ThreadDeleted = "thread/deleted" (ThreadDeletedNotification), since "0.166";
            /// Turns of a thread were taken back.
            ThreadReverted = "thread/reverted" (ThreadRevertedNotification), since "0.166";
            /// The settings of a thread changed.
            ThreadSettingsUpdated = "thread/settings/updated" (ThreadSettingsUpdatedNotification), since "0.166";
            /// The goal of a thread was set, changed or has come further.
            ThreadGoalUpdated = "thread/goal/updated" (ThreadGoalUpdatedNotification), since "0.166";
            /// The goal of a thread was removed.
            ThreadGoalCleared = "thread/goal/cleared" (ThreadGoalClearedNotification), since "0.166";
            /// The queue of a thread changed.
            ThreadQueueChanged = "thread/queue/changed" (ThreadQueueChangedNotification), since "0.166";
            /// Something was stored with a thread, or removed.
            ThreadAttachmentUpdated = "thread/attachment/updated" (ThreadAttachmentUpdatedNotification), since "0.166";
            /// What is read of a thread changed. Only clients with `experimentalApi` get it.
            ThreadReadStateChanged = "thread/readState/changed" (ThreadReadStateChangedNotification), since "0.166";
            /// A thread was unloaded.
            ThreadClosed = "thread/closed" (ThreadClosedNotification);
            /// Skill files changed; lists of skills are out of date.
            SkillsChanged = "skills/changed" (SkillsChangedNotification);
            /// A thread was named.
            ThreadNameUpdated = "thread/name/updated" (ThreadNameUpdatedNotification);
            /// The tokens a thread has used.
            ThreadTokenUsageUpdated = "thread/tokenUsage/updated" (ThreadTokenUsageUpdatedNotification);
            /// A turn began.
            TurnStarted = "turn/started" (TurnStartedNotification);
            /// A hook began to run.
            HookStarted = "hook/started" (HookStartedNotification);
            /// A turn ended: completed, interrupted or failed.
            TurnCompleted = "turn/completed" (TurnCompletedNotification);
            /// A hook ended.
            HookCompleted = "hook/completed" (HookCompletedNotification);
            /// All file changes of the turn so far, as one diff.
            TurnDiffUpdated = "turn/diff/updated" (TurnDiffUpdatedNotification);
            /// The agent shared or changed its plan.
            TurnPlanUpdated = "turn/plan/updated" (TurnPlanUpdatedNotification);
            /// An item began.
            ItemStarted = "item/started" (ItemStartedNotification);
            /// A reviewer began to judge an action in the user's place.
            ItemAutoApprovalReviewStarted = "item/autoApprovalReview/started" (ItemGuardianApprovalReviewStartedNotification);
            /// A reviewer judged an action in the user's place.
            ItemAutoApprovalReviewCompleted = "item/autoApprovalReview/completed" (ItemGuardianApprovalReviewCompletedNotification);
            /// An item ended; this is its final state.
            ItemCompleted = "item/completed" (ItemCompletedNotification);
            /// An item exactly as the model sent it.
            RawResponseItemCompleted = "rawResponseItem/completed" (RawResponseItemCompletedNotification);
            /// More text of an agent message.
            ItemAgentMessageDelta = "item/agentMessage/delta" (AgentMessageDeltaNotification);
            /// More text of a proposed plan.
            ItemPlanDelta = "item/plan/delta" (PlanDeltaNotification);
            /// Output of a command run with `command/exec`.
            CommandExecOutputDelta = "command/exec/outputDelta" (CommandExecOutputDeltaNotification);
            /// Output of a process started with `process/spawn`.
            ProcessOutputDelta = "process/outputDelta" (ProcessOutputDeltaNotification), since "0.166";
            /// A process started with `process/spawn` ended.
            ProcessExited = "process/exited" (ProcessExitedNotification), since "0.166";
            /// Output of a command of the agent.
            ItemCommandExecutionOutputDelta = "item/commandExecution/outputDelta" (CommandExecutionOutputDeltaNotification);
            /// The agent typed into a running command.
            ItemCommandExecutionTerminalInteraction = "item/commandExecution/terminalInteraction" (TerminalInteractionNotification);
            /// Output of applying a patch.
            ItemFileChangeOutputDelta = "item/fileChange/outputDelta" (FileChangeOutputDeltaNotification);
            /// A request of the server is settled, by an answer or otherwise.
            ServerRequestResolved = "serverRequest/resolved" (ServerRequestResolvedNotification);
            /// Progress of an MCP tool.
            ItemMcpToolCallProgress = "item/mcpToolCall/progress" (McpToolCallProgressNotification);
            /// The OAuth login of an MCP server ended.
            McpServerOauthLoginCompleted = "mcpServer/oauthLogin/completed" (McpServerOauthLoginCompletedNotification);
            /// An MCP server is starting, is ready or has failed.
            McpServerStartupStatusUpdated = "mcpServer/startupStatus/updated" (McpServerStatusUpdatedNotification);
            /// Who is logged in changed.
            AccountUpdated = "account/updated" (AccountUpdatedNotification);
            /// The account's rate limits changed.
            AccountRateLimitsUpdated = "account/rateLimits/updated" (AccountRateLimitsUpdatedNotification);
            /// The list of apps changed.
            AppListUpdated = "app/list/updated" (AppListUpdatedNotification);
            /// Watched files changed.
            FsChanged = "fs/changed" (FsChangedNotification);
            /// More text of a reasoning summary.
            ItemReasoningSummaryTextDelta = "item/reasoning/summaryTextDelta" (ReasoningSummaryTextDeltaNotification);
            /// A new part of a reasoning summary begins.
            ItemReasoningSummaryPartAdded = "item/reasoning/summaryPartAdded" (ReasoningSummaryPartAddedNotification);
            /// More text of raw reasoning.
            ItemReasoningTextDelta = "item/reasoning/textDelta" (ReasoningTextDeltaNotification);
            /// The history was compacted; `contextCompaction` items say the same.
            ThreadCompacted = "thread/compacted" (ContextCompactedNotification);
            /// The provider used another model than asked.
            ModelRerouted = "model/rerouted" (ModelReroutedNotification);
            /// Something that the user of a thread should know.
            Warning = "warning" (WarningNotification), since "0.166";
            /// Something in use is going away.
            DeprecationNotice = "deprecationNotice" (DeprecationNoticeNotification);
            /// The configuration has a problem; says what is in force instead.
            ConfigWarning = "configWarning" (ConfigWarningNotification);
            /// Settings of another agent were taken over.
            ExternalAgentConfigImportCompleted = "externalAgentConfig/import/completed" (ExternalAgentConfigImportCompletedNotification), since "0.166";
            /// Matches of an open search.
            FuzzyFileSearchSessionUpdated = "fuzzyFileSearch/sessionUpdated" (FuzzyFileSearchSessionUpdatedNotification);
            /// An open search has seen every file for its query.
            FuzzyFileSearchSessionCompleted = "fuzzyFileSearch/sessionCompleted" (FuzzyFileSearchSessionCompletedNotification);
            /// A voice session is open.
            ThreadRealtimeStarted = "thread/realtime/started" (ThreadRealtimeStartedNotification);
            /// An item of the voice session, as the provider sent it.
            ThreadRealtimeItemAdded = "thread/realtime/itemAdded" (ThreadRealtimeItemAddedNotification);
            /// More of the transcript of a voice session.
            ThreadRealtimeTranscriptUpdated = "thread/realtime/transcriptUpdated" (ThreadRealtimeTranscriptUpdatedNotification), until "0.118";
            /// More sound from a voice session.
            ThreadRealtimeOutputAudioDelta = "thread/realtime/outputAudio/delta" (ThreadRealtimeOutputAudioDeltaNotification);
            /// A voice session has a problem.
            ThreadRealtimeError = "thread/realtime/error" (ThreadRealtimeErrorNotification);
            /// A voice session ended.
            ThreadRealtimeClosed = "thread/realtime/closed" (ThreadRealtimeClosedNotification);
            /// Directories that anybody may write to weaken the Windows sandbox.
            WindowsWorldWritableWarning = "windows/worldWritableWarning" (WindowsWorldWritableWarningNotification);
            /// Preparation of the Windows sandbox ended.
            WindowsSandboxSetupCompleted = "windowsSandbox/setupCompleted" (WindowsSandboxSetupCompletedNotification);
            /// A login succeeded or failed.
            AccountLoginCompleted = "account/login/completed" (AccountLoginCompletedNotification);
        }
    };
}

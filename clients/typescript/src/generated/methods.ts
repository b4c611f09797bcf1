// GENERATED CODE! DO NOT MODIFY BY HAND!

import { ClientEmitter } from "../emitter.ts";
import type { CallOptions } from "../types.ts";
import type * as protocol from "./protocol.ts";

/**
 * A method for each request of the protocol, named after it: `thread/start` is `threadStart`.
 */
export abstract class Methods extends ClientEmitter {
  /**
   * Sends a request and resolves with its result.
   */
  abstract request<M extends keyof protocol.ClientRequests>(
    method: M,
    params: protocol.ClientRequests[M]["params"],
    options?: CallOptions,
  ): Promise<protocol.ClientRequests[M]["result"]>;

  /** Opens the connection: who the client is, what it can do. */
  initialize(params: protocol.InitializeParams, options?: CallOptions): Promise<protocol.InitializeResponse> {
    return this.request("initialize", params, options);
  }

  /** Starts a new thread and subscribes the connection to its events. */
  threadStart(params: protocol.ThreadStartParams = {}, options?: CallOptions): Promise<protocol.ThreadStartResponse> {
    return this.request("thread/start", params, options);
  }

  /** Loads a stored thread, or joins a running one, and subscribes to it. */
  threadResume(params: protocol.ThreadResumeParams, options?: CallOptions): Promise<protocol.ThreadResumeResponse> {
    return this.request("thread/resume", params, options);
  }

  /** Copies a thread's history into a new thread. */
  threadFork(params: protocol.ThreadForkParams, options?: CallOptions): Promise<protocol.ThreadForkResponse> {
    return this.request("thread/fork", params, options);
  }

  /** Moves a thread out of the ordinary lists. */
  threadArchive(params: protocol.ThreadArchiveParams, options?: CallOptions): Promise<protocol.ThreadArchiveResponse> {
    return this.request("thread/archive", params, options);
  }

  /** Removes a thread for good. */
  threadDelete(params: protocol.ThreadDeleteParams, options?: CallOptions): Promise<protocol.ThreadDeleteResponse> {
    return this.request("thread/delete", params, options);
  }

  /** Stops sending a thread's events to this connection; the last one unloads it. */
  threadUnsubscribe(params: protocol.ThreadUnsubscribeParams, options?: CallOptions): Promise<protocol.ThreadUnsubscribeResponse> {
    return this.request("thread/unsubscribe", params, options);
  }

  /** Counts one more question being shown outside the protocol, which pauses time limits. Experimental. */
  threadIncrementElicitation(params: protocol.ThreadIncrementElicitationParams, options?: CallOptions): Promise<protocol.ThreadIncrementElicitationResponse> {
    return this.request("thread/increment_elicitation", params, options);
  }

  /** Counts one question less. Experimental. */
  threadDecrementElicitation(params: protocol.ThreadDecrementElicitationParams, options?: CallOptions): Promise<protocol.ThreadDecrementElicitationResponse> {
    return this.request("thread/decrement_elicitation", params, options);
  }

  /** Gives a thread a name. */
  threadNameSet(params: protocol.ThreadSetNameParams, options?: CallOptions): Promise<protocol.ThreadSetNameResponse> {
    return this.request("thread/name/set", params, options);
  }

  /** Changes the git facts stored with a thread. */
  threadMetadataUpdate(params: protocol.ThreadMetadataUpdateParams, options?: CallOptions): Promise<protocol.ThreadMetadataUpdateResponse> {
    return this.request("thread/metadata/update", params, options);
  }

  /** Moves an archived thread back. */
  threadUnarchive(params: protocol.ThreadUnarchiveParams, options?: CallOptions): Promise<protocol.ThreadUnarchiveResponse> {
    return this.request("thread/unarchive", params, options);
  }

  /** Summarises a thread's history to free context. */
  threadCompactStart(params: protocol.ThreadCompactStartParams, options?: CallOptions): Promise<protocol.ThreadCompactStartResponse> {
    return this.request("thread/compact/start", params, options);
  }

  /** Runs a shell command of the user in the thread, outside the sandbox. */
  threadShellCommand(params: protocol.ThreadShellCommandParams, options?: CallOptions): Promise<protocol.ThreadShellCommandResponse> {
    return this.request("thread/shellCommand", params, options);
  }

  /** Ends the thread's background terminals. Experimental. */
  threadBackgroundTerminalsClean(params: protocol.ThreadBackgroundTerminalsCleanParams, options?: CallOptions): Promise<protocol.ThreadBackgroundTerminalsCleanResponse> {
    return this.request("thread/backgroundTerminals/clean", params, options);
  }

  /** Lists the thread's background terminals. Experimental. */
  threadBackgroundTerminalsList(params: protocol.ThreadBackgroundTerminalsListParams, options?: CallOptions): Promise<protocol.ThreadBackgroundTerminalsListResponse> {
    return this.request("thread/backgroundTerminals/list", params, options);
  }

  /** Ends one of the thread's background terminals. Experimental. */
  threadBackgroundTerminalsTerminate(params: protocol.ThreadBackgroundTerminalsTerminateParams, options?: CallOptions): Promise<protocol.ThreadBackgroundTerminalsTerminateResponse> {
    return this.request("thread/backgroundTerminals/terminate", params, options);
  }

  /** Drops the last turns of a thread from its history. */
  threadRollback(params: protocol.ThreadRollbackParams, options?: CallOptions): Promise<protocol.ThreadRollbackResponse> {
    return this.request("thread/rollback", params, options);
  }

  /** Drops a turn and all after it from a thread's history. */
  threadRevert(params: protocol.ThreadRevertParams, options?: CallOptions): Promise<protocol.ThreadRevertResponse> {
    return this.request("thread/revert", params, options);
  }

  /** Adds items to the model's history that clients do not see. */
  threadInjectItems(params: protocol.ThreadInjectItemsParams, options?: CallOptions): Promise<protocol.ThreadInjectItemsResponse> {
    return this.request("thread/inject_items", params, options);
  }

  /** Changes the settings of later turns. Experimental. */
  threadSettingsUpdate(params: protocol.ThreadSettingsUpdateParams, options?: CallOptions): Promise<protocol.ThreadSettingsUpdateResponse> {
    return this.request("thread/settings/update", params, options);
  }

  /** Asks the model something beside the thread, after its last turn; nothing of it is stored. Experimental. */
  threadSample(params: protocol.ThreadSampleParams, options?: CallOptions): Promise<protocol.ThreadSampleResponse> {
    return this.request("thread/sample", params, options);
  }

  /** Cancels a `thread/sample` of this connection, which is then answered with an error. Experimental. */
  threadSampleCancel(params: protocol.ThreadSampleCancelParams, options?: CallOptions): Promise<protocol.ThreadSampleCancelResponse> {
    return this.request("thread/sample/cancel", params, options);
  }

  /** Marks a thread as read or unread. Experimental. */
  threadReadStateUpdate(params: protocol.ThreadReadStateUpdateParams, options?: CallOptions): Promise<protocol.ThreadReadStateUpdateResponse> {
    return this.request("thread/readState/update", params, options);
  }

  /** Sets or changes the goal that the server pursues by itself. */
  threadGoalSet(params: protocol.ThreadGoalSetParams, options?: CallOptions): Promise<protocol.ThreadGoalSetResponse> {
    return this.request("thread/goal/set", params, options);
  }

  /** Reads the goal of a thread. */
  threadGoalGet(params: protocol.ThreadGoalGetParams, options?: CallOptions): Promise<protocol.ThreadGoalGetResponse> {
    return this.request("thread/goal/get", params, options);
  }

  /** Removes the goal of a thread. */
  threadGoalClear(params: protocol.ThreadGoalClearParams, options?: CallOptions): Promise<protocol.ThreadGoalClearResponse> {
    return this.request("thread/goal/clear", params, options);
  }

  /** Adds input that runs when the thread is idle. Experimental. */
  threadQueueAdd(params: protocol.ThreadQueueAddParams, options?: CallOptions): Promise<protocol.ThreadQueueAddResponse> {
    return this.request("thread/queue/add", params, options);
  }

  /** Lists the input that waits for the thread. Experimental. */
  threadQueueList(params: protocol.ThreadQueueListParams, options?: CallOptions): Promise<protocol.ThreadQueueListResponse> {
    return this.request("thread/queue/list", params, options);
  }

  /** Changes input that waits for the thread. Experimental. */
  threadQueueUpdate(params: protocol.ThreadQueueUpdateParams, options?: CallOptions): Promise<protocol.ThreadQueueUpdateResponse> {
    return this.request("thread/queue/update", params, options);
  }

  /** Removes input that waits for the thread. Experimental. */
  threadQueueDelete(params: protocol.ThreadQueueDeleteParams, options?: CallOptions): Promise<protocol.ThreadQueueDeleteResponse> {
    return this.request("thread/queue/delete", params, options);
  }

  /** Changes the order of the input that waits. Experimental. */
  threadQueueReorder(params: protocol.ThreadQueueReorderParams, options?: CallOptions): Promise<protocol.ThreadQueueReorderResponse> {
    return this.request("thread/queue/reorder", params, options);
  }

  /** Runs waiting input now. Experimental. */
  threadQueueStart(params: protocol.ThreadQueueStartParams, options?: CallOptions): Promise<protocol.ThreadQueueStartResponse> {
    return this.request("thread/queue/start", params, options);
  }

  /** Lists stored threads, a page at a time. */
  threadList(params: protocol.ThreadListParams = {}, options?: CallOptions): Promise<protocol.ThreadListResponse> {
    return this.request("thread/list", params, options);
  }

  /** Lists the sections that threads are grouped in, a page at a time. */
  threadSectionList(params: protocol.ThreadSectionListParams = {}, options?: CallOptions): Promise<protocol.ThreadSectionListResponse> {
    return this.request("threadSection/list", params, options);
  }

  /** Makes a section. */
  threadSectionCreate(params: protocol.ThreadSectionCreateParams, options?: CallOptions): Promise<protocol.ThreadSectionCreateResponse> {
    return this.request("threadSection/create", params, options);
  }

  /** Renames a section, or changes how it is shown. */
  threadSectionUpdate(params: protocol.ThreadSectionUpdateParams, options?: CallOptions): Promise<protocol.ThreadSectionUpdateResponse> {
    return this.request("threadSection/update", params, options);
  }

  /** Removes a section; its threads stay. */
  threadSectionDelete(params: protocol.ThreadSectionDeleteParams, options?: CallOptions): Promise<protocol.ThreadSectionDeleteResponse> {
    return this.request("threadSection/delete", params, options);
  }

  /** Moves a thread into a section, within it, or out of it. */
  threadSectionMove(params: protocol.ThreadSectionMoveParams, options?: CallOptions): Promise<protocol.ThreadSectionMoveResponse> {
    return this.request("thread/section/move", params, options);
  }

  /** Stores something with a thread. */
  threadAttachmentAdd(params: protocol.ThreadAttachmentAddParams, options?: CallOptions): Promise<protocol.ThreadAttachmentAddResponse> {
    return this.request("thread/attachment/add", params, options);
  }

  /** Lists what clients stored with a thread, a page at a time. */
  threadAttachmentList(params: protocol.ThreadAttachmentListParams, options?: CallOptions): Promise<protocol.ThreadAttachmentListResponse> {
    return this.request("thread/attachment/list", params, options);
  }

  /** Removes what a client stored with a thread. */
  threadAttachmentRemove(params: protocol.ThreadAttachmentRemoveParams, options?: CallOptions): Promise<protocol.ThreadAttachmentRemoveResponse> {
    return this.request("thread/attachment/remove", params, options);
  }

  /** Lists the threads that something is stored with, a page at a time. */
  threadAttachmentOwnerList(params: protocol.ThreadAttachmentOwnerListParams, options?: CallOptions): Promise<protocol.ThreadAttachmentOwnerListResponse> {
    return this.request("thread/attachmentOwner/list", params, options);
  }

  /** Lists the threads in memory. */
  threadLoadedList(params: protocol.ThreadLoadedListParams = {}, options?: CallOptions): Promise<protocol.ThreadLoadedListResponse> {
    return this.request("thread/loaded/list", params, options);
  }

  /** Reads a stored thread without loading it. */
  threadRead(params: protocol.ThreadReadParams, options?: CallOptions): Promise<protocol.ThreadReadResponse> {
    return this.request("thread/read", params, options);
  }

  /** Lists the turns of a thread, a page at a time. */
  threadTurnsList(params: protocol.ThreadTurnsListParams, options?: CallOptions): Promise<protocol.ThreadTurnsListResponse> {
    return this.request("thread/turns/list", params, options);
  }

  /** Lists the items of a thread, a page at a time. */
  threadItemsList(params: protocol.ThreadItemsListParams, options?: CallOptions): Promise<protocol.ThreadItemsListResponse> {
    return this.request("thread/items/list", params, options);
  }

  /** Reads some items of a turn. Experimental. */
  threadItemsRead(params: protocol.ThreadItemsReadParams, options?: CallOptions): Promise<protocol.ThreadItemsReadResponse> {
    return this.request("thread/items/read", params, options);
  }

  /** Lists turns and items of a thread in one sequence, a page at a time, the newest page first. Experimental. */
  threadTimelineList(params: protocol.ThreadTimelineListParams, options?: CallOptions): Promise<protocol.ThreadTimelineListResponse> {
    return this.request("thread/timeline/list", params, options);
  }

  /** Finds threads by a text in their messages. Experimental. */
  threadSearch(params: protocol.ThreadSearchParams, options?: CallOptions): Promise<protocol.ThreadSearchResponse> {
    return this.request("thread/search", params, options);
  }

  /** Finds a text in the messages of a thread. Experimental. */
  threadSearchOccurrences(params: protocol.ThreadSearchOccurrencesParams, options?: CallOptions): Promise<protocol.ThreadSearchOccurrencesResponse> {
    return this.request("thread/searchOccurrences", params, options);
  }

  /** Lists the permission profiles that can be chosen. */
  permissionProfileList(params: protocol.PermissionProfileListParams = {}, options?: CallOptions): Promise<protocol.PermissionProfileListResponse> {
    return this.request("permissionProfile/list", params, options);
  }

  /** Lists the skills that apply to some directories. */
  skillsList(params: protocol.SkillsListParams = {}, options?: CallOptions): Promise<protocol.SkillsListResponse> {
    return this.request("skills/list", params, options);
  }

  /** Sets more directories in which skills are found. */
  skillsExtraRootsSet(params: protocol.SkillsExtraRootsSetParams, options?: CallOptions): Promise<protocol.SkillsExtraRootsSetResponse> {
    return this.request("skills/extraRoots/set", params, options);
  }

  /** Lists the hooks that are in force. */
  hooksList(params: protocol.HooksListParams = {}, options?: CallOptions): Promise<protocol.HooksListResponse> {
    return this.request("hooks/list", params, options);
  }

  /** Lists the plugins of the known marketplaces. */
  pluginList(params: protocol.PluginListParams = {}, options?: CallOptions): Promise<protocol.PluginListResponse> {
    return this.request("plugin/list", params, options);
  }

  /** Shows one plugin in full. */
  pluginRead(params: protocol.PluginReadParams, options?: CallOptions): Promise<protocol.PluginReadResponse> {
    return this.request("plugin/read", params, options);
  }

  /** Lists the installed plugins. */
  pluginInstalled(params: protocol.PluginInstalledParams = {}, options?: CallOptions): Promise<protocol.PluginInstalledResponse> {
    return this.request("plugin/installed", params, options);
  }

  /** Searches the plugins that marketplaces of this machine offer. Experimental. */
  pluginSearch(params: protocol.PluginSearchParams, options?: CallOptions): Promise<protocol.PluginSearchResponse> {
    return this.request("plugin/search", params, options);
  }

  /** Lists apps, a page at a time. */
  appList(params: protocol.AppsListParams = {}, options?: CallOptions): Promise<protocol.AppsListResponse> {
    return this.request("app/list", params, options);
  }

  /** Reads a file. */
  fsReadFile(params: protocol.FsReadFileParams, options?: CallOptions): Promise<protocol.FsReadFileResponse> {
    return this.request("fs/readFile", params, options);
  }

  /** Writes a file, whole or not at all. */
  fsWriteFile(params: protocol.FsWriteFileParams, options?: CallOptions): Promise<protocol.FsWriteFileResponse> {
    return this.request("fs/writeFile", params, options);
  }

  /** Makes a directory. */
  fsCreateDirectory(params: protocol.FsCreateDirectoryParams, options?: CallOptions): Promise<protocol.FsCreateDirectoryResponse> {
    return this.request("fs/createDirectory", params, options);
  }

  /** Returns what a path is and when it changed. */
  fsGetMetadata(params: protocol.FsGetMetadataParams, options?: CallOptions): Promise<protocol.FsGetMetadataResponse> {
    return this.request("fs/getMetadata", params, options);
  }

  /** Lists a directory. */
  fsReadDirectory(params: protocol.FsReadDirectoryParams, options?: CallOptions): Promise<protocol.FsReadDirectoryResponse> {
    return this.request("fs/readDirectory", params, options);
  }

  /** Removes a file or a tree. */
  fsRemove(params: protocol.FsRemoveParams, options?: CallOptions): Promise<protocol.FsRemoveResponse> {
    return this.request("fs/remove", params, options);
  }

  /** Copies a file or a tree. */
  fsCopy(params: protocol.FsCopyParams, options?: CallOptions): Promise<protocol.FsCopyResponse> {
    return this.request("fs/copy", params, options);
  }

  /** Starts notifying the connection of changes below a path. */
  fsWatch(params: protocol.FsWatchParams, options?: CallOptions): Promise<protocol.FsWatchResponse> {
    return this.request("fs/watch", params, options);
  }

  /** Ends a watch. */
  fsUnwatch(params: protocol.FsUnwatchParams, options?: CallOptions): Promise<protocol.FsUnwatchResponse> {
    return this.request("fs/unwatch", params, options);
  }

  /** Turns a skill on or off. */
  skillsConfigWrite(params: protocol.SkillsConfigWriteParams, options?: CallOptions): Promise<protocol.SkillsConfigWriteResponse> {
    return this.request("skills/config/write", params, options);
  }

  /** Installs a plugin. */
  pluginInstall(params: protocol.PluginInstallParams, options?: CallOptions): Promise<protocol.PluginInstallResponse> {
    return this.request("plugin/install", params, options);
  }

  /** Removes a plugin. */
  pluginUninstall(params: protocol.PluginUninstallParams, options?: CallOptions): Promise<protocol.PluginUninstallResponse> {
    return this.request("plugin/uninstall", params, options);
  }

  /** Adds a marketplace of plugins to the user's settings. */
  marketplaceAdd(params: protocol.MarketplaceAddParams, options?: CallOptions): Promise<protocol.MarketplaceAddResponse> {
    return this.request("marketplace/add", params, options);
  }

  /** Removes a marketplace that was added. */
  marketplaceRemove(params: protocol.MarketplaceRemoveParams, options?: CallOptions): Promise<protocol.MarketplaceRemoveResponse> {
    return this.request("marketplace/remove", params, options);
  }

  /** Fetches the marketplaces again that come from repositories. */
  marketplaceUpgrade(params: protocol.MarketplaceUpgradeParams = {}, options?: CallOptions): Promise<protocol.MarketplaceUpgradeResponse> {
    return this.request("marketplace/upgrade", params, options);
  }

  /** Gives a thread input and begins a turn. */
  turnStart(params: protocol.TurnStartParams, options?: CallOptions): Promise<protocol.TurnStartResponse> {
    return this.request("turn/start", params, options);
  }

  /** Adds input to the running turn. */
  turnSteer(params: protocol.TurnSteerParams, options?: CallOptions): Promise<protocol.TurnSteerResponse> {
    return this.request("turn/steer", params, options);
  }

  /** Changes settings of the running turn alone, from its next request to the model on. Experimental. */
  turnSettingsUpdate(params: protocol.TurnSettingsUpdateParams, options?: CallOptions): Promise<protocol.TurnSettingsUpdateResponse> {
    return this.request("turn/settings/update", params, options);
  }

  /** Ends the running turn early. */
  turnInterrupt(params: protocol.TurnInterruptParams, options?: CallOptions): Promise<protocol.TurnInterruptResponse> {
    return this.request("turn/interrupt", params, options);
  }

  /** Opens a voice session in a thread. Experimental. */
  threadRealtimeStart(params: protocol.ThreadRealtimeStartParams, options?: CallOptions): Promise<protocol.ThreadRealtimeStartResponse> {
    return this.request("thread/realtime/start", params, options);
  }

  /** Sends sound to the voice session. Experimental. */
  threadRealtimeAppendAudio(params: protocol.ThreadRealtimeAppendAudioParams, options?: CallOptions): Promise<protocol.ThreadRealtimeAppendAudioResponse> {
    return this.request("thread/realtime/appendAudio", params, options);
  }

  /** Sends text to the voice session. Experimental. */
  threadRealtimeAppendText(params: protocol.ThreadRealtimeAppendTextParams, options?: CallOptions): Promise<protocol.ThreadRealtimeAppendTextResponse> {
    return this.request("thread/realtime/appendText", params, options);
  }

  /** Ends the voice session. Experimental. */
  threadRealtimeStop(params: protocol.ThreadRealtimeStopParams, options?: CallOptions): Promise<protocol.ThreadRealtimeStopResponse> {
    return this.request("thread/realtime/stop", params, options);
  }

  /** Begins a code review, in the thread or beside it. */
  reviewStart(params: protocol.ReviewStartParams, options?: CallOptions): Promise<protocol.ReviewStartResponse> {
    return this.request("review/start", params, options);
  }

  /** Lists the models that can be chosen. */
  modelList(params: protocol.ModelListParams = {}, options?: CallOptions): Promise<protocol.ModelListResponse> {
    return this.request("model/list", params, options);
  }

  /** What the provider in use can do besides answering. */
  modelProviderCapabilitiesRead(params: protocol.ModelProviderCapabilitiesReadParams, options?: CallOptions): Promise<protocol.ModelProviderCapabilitiesReadResponse> {
    return this.request("modelProvider/capabilities/read", params, options);
  }

  /** Lists optional features and their state. */
  experimentalFeatureList(params: protocol.ExperimentalFeatureListParams = {}, options?: CallOptions): Promise<protocol.ExperimentalFeatureListResponse> {
    return this.request("experimentalFeature/list", params, options);
  }

  /** Turns optional features on or off for this process. */
  experimentalFeatureEnablementSet(params: protocol.ExperimentalFeatureEnablementSetParams, options?: CallOptions): Promise<protocol.ExperimentalFeatureEnablementSetResponse> {
    return this.request("experimentalFeature/enablement/set", params, options);
  }

  /** Lists the presets for how agent and user work together. Experimental. */
  collaborationModeList(params: protocol.CollaborationModeListParams, options?: CallOptions): Promise<protocol.CollaborationModeListResponse> {
    return this.request("collaborationMode/list", params, options);
  }

  /** Echoes its argument; for testing the experimental gate. Experimental. */
  mockExperimentalMethod(params: protocol.MockExperimentalMethodParams = {}, options?: CallOptions): Promise<protocol.MockExperimentalMethodResponse> {
    return this.request("mock/experimentalMethod", params, options);
  }

  /** Begins the OAuth login of an MCP server. */
  mcpServerOauthLogin(params: protocol.McpServerOauthLoginParams, options?: CallOptions): Promise<protocol.McpServerOauthLoginResponse> {
    return this.request("mcpServer/oauth/login", params, options);
  }

  /** Reads the MCP servers from the configuration again. */
  configMcpServerReload(options?: CallOptions): Promise<protocol.McpServerRefreshResponse> {
    return this.request("config/mcpServer/reload", undefined, options);
  }

  /** Lists MCP servers with their tools and login state. */
  mcpServerStatusList(params: protocol.ListMcpServerStatusParams = {}, options?: CallOptions): Promise<protocol.ListMcpServerStatusResponse> {
    return this.request("mcpServerStatus/list", params, options);
  }

  /** Calls a tool of a thread's MCP server. */
  mcpServerToolCall(params: protocol.McpServerToolCallParams, options?: CallOptions): Promise<protocol.McpServerToolCallResponse> {
    return this.request("mcpServer/tool/call", params, options);
  }

  /** Reads a resource of a thread's MCP server. */
  mcpServerResourceRead(params: protocol.McpResourceReadParams, options?: CallOptions): Promise<protocol.McpResourceReadResponse> {
    return this.request("mcpServer/resource/read", params, options);
  }

  /** Prepares the Windows sandbox. */
  windowsSandboxSetupStart(params: protocol.WindowsSandboxSetupStartParams, options?: CallOptions): Promise<protocol.WindowsSandboxSetupStartResponse> {
    return this.request("windowsSandbox/setupStart", params, options);
  }

  /** Whether the sandbox on Windows can be used. */
  windowsSandboxReadiness(options?: CallOptions): Promise<protocol.WindowsSandboxReadinessResponse> {
    return this.request("windowsSandbox/readiness", undefined, options);
  }

  /** Begins a login. */
  accountLoginStart(params: protocol.LoginAccountParams, options?: CallOptions): Promise<protocol.LoginAccountResponse> {
    return this.request("account/login/start", params, options);
  }

  /** Gives up a login that is under way. */
  accountLoginCancel(params: protocol.CancelLoginAccountParams, options?: CallOptions): Promise<protocol.CancelLoginAccountResponse> {
    return this.request("account/login/cancel", params, options);
  }

  /** Forgets the stored credentials. */
  accountLogout(options?: CallOptions): Promise<protocol.LogoutAccountResponse> {
    return this.request("account/logout", undefined, options);
  }

  /** Asks the provider for the account's rate limits. */
  accountRateLimitsRead(options?: CallOptions): Promise<protocol.GetAccountRateLimitsResponse> {
    return this.request("account/rateLimits/read", undefined, options);
  }

  /** Whether an account of Amazon Bedrock lacks what its region requires. Experimental. */
  accountBedrockCheckGovCloudRequirements(params: protocol.BedrockCheckGovCloudRequirementsParams, options?: CallOptions): Promise<protocol.BedrockCheckGovCloudRequirementsResponse> {
    return this.request("account/bedrock/checkGovCloudRequirements", params, options);
  }

  /** The state of the server's process. Experimental. */
  serverDiagnostics(params: protocol.ServerDiagnosticsParams, options?: CallOptions): Promise<protocol.ServerDiagnosticsResponse> {
    return this.request("server/diagnostics", params, options);
  }

  /** Files a report about a thread. */
  feedbackUpload(params: protocol.FeedbackUploadParams, options?: CallOptions): Promise<protocol.FeedbackUploadResponse> {
    return this.request("feedback/upload", params, options);
  }

  /** Runs a command outside any thread; answered when it has ended. */
  commandExec(params: protocol.CommandExecParams, options?: CallOptions): Promise<protocol.CommandExecResponse> {
    return this.request("command/exec", params, options);
  }

  /** Writes to the standard input of a running command. */
  commandExecWrite(params: protocol.CommandExecWriteParams, options?: CallOptions): Promise<protocol.CommandExecWriteResponse> {
    return this.request("command/exec/write", params, options);
  }

  /** Ends a running command. */
  commandExecTerminate(params: protocol.CommandExecTerminateParams, options?: CallOptions): Promise<protocol.CommandExecTerminateResponse> {
    return this.request("command/exec/terminate", params, options);
  }

  /** Changes the terminal size of a running command. */
  commandExecResize(params: protocol.CommandExecResizeParams, options?: CallOptions): Promise<protocol.CommandExecResizeResponse> {
    return this.request("command/exec/resize", params, options);
  }

  /** Returns the shell and the directory of an environment. Experimental. */
  environmentInfo(params: protocol.EnvironmentInfoParams, options?: CallOptions): Promise<protocol.EnvironmentInfoResponse> {
    return this.request("environment/info", params, options);
  }

  /** Returns whether an environment can be used. Experimental. */
  environmentStatus(params: protocol.EnvironmentStatusParams, options?: CallOptions): Promise<protocol.EnvironmentStatusResponse> {
    return this.request("environment/status", params, options);
  }

  /** Starts a process without a sandbox, which is reported on in notifications. Experimental. */
  processSpawn(params: protocol.ProcessSpawnParams, options?: CallOptions): Promise<protocol.ProcessSpawnResponse> {
    return this.request("process/spawn", params, options);
  }

  /** Writes to the standard input of a process. Experimental. */
  processWriteStdin(params: protocol.ProcessWriteStdinParams, options?: CallOptions): Promise<protocol.ProcessWriteStdinResponse> {
    return this.request("process/writeStdin", params, options);
  }

  /** Changes the terminal size of a process. Experimental. */
  processResizePty(params: protocol.ProcessResizePtyParams, options?: CallOptions): Promise<protocol.ProcessResizePtyResponse> {
    return this.request("process/resizePty", params, options);
  }

  /** Ends a process. Experimental. */
  processKill(params: protocol.ProcessKillParams, options?: CallOptions): Promise<protocol.ProcessKillResponse> {
    return this.request("process/kill", params, options);
  }

  /** Reads the configuration in force, and where each value came from. */
  configRead(params: protocol.ConfigReadParams = {}, options?: CallOptions): Promise<protocol.ConfigReadResponse> {
    return this.request("config/read", params, options);
  }

  /** Looks for settings of other agents worth taking over. */
  externalAgentConfigDetect(params: protocol.ExternalAgentConfigDetectParams = {}, options?: CallOptions): Promise<protocol.ExternalAgentConfigDetectResponse> {
    return this.request("externalAgentConfig/detect", params, options);
  }

  /** Takes over settings that were detected. */
  externalAgentConfigImport(params: protocol.ExternalAgentConfigImportParams, options?: CallOptions): Promise<protocol.ExternalAgentConfigImportResponse> {
    return this.request("externalAgentConfig/import", params, options);
  }

  /** Changes one value of the user's configuration file. */
  configValueWrite(params: protocol.ConfigValueWriteParams, options?: CallOptions): Promise<protocol.ConfigWriteResponse> {
    return this.request("config/value/write", params, options);
  }

  /** Changes several values of the user's configuration file at once. */
  configBatchWrite(params: protocol.ConfigBatchWriteParams, options?: CallOptions): Promise<protocol.ConfigWriteResponse> {
    return this.request("config/batchWrite", params, options);
  }

  /** Reads the limits an administrator has set. */
  configRequirementsRead(options?: CallOptions): Promise<protocol.ConfigRequirementsReadResponse> {
    return this.request("configRequirements/read", undefined, options);
  }

  /** Returns who is logged in. */
  accountRead(params: protocol.GetAccountParams = {}, options?: CallOptions): Promise<protocol.GetAccountResponse> {
    return this.request("account/read", params, options);
  }

  /** Summarises a stored conversation; for clients of the first protocol version. Legacy. */
  getConversationSummary(params: protocol.GetConversationSummaryParams, options?: CallOptions): Promise<protocol.GetConversationSummaryResponse> {
    return this.request("getConversationSummary", params, options);
  }

  /** Compares a repository with its remote; for clients of the first protocol version. Legacy. */
  gitDiffToRemote(params: protocol.GitDiffToRemoteParams, options?: CallOptions): Promise<protocol.GitDiffToRemoteResponse> {
    return this.request("gitDiffToRemote", params, options);
  }

  /** Returns how the user is logged in; for clients of the first protocol version. Legacy. */
  getAuthStatus(params: protocol.GetAuthStatusParams = {}, options?: CallOptions): Promise<protocol.GetAuthStatusResponse> {
    return this.request("getAuthStatus", params, options);
  }

  /** Finds files by an approximate name. */
  fuzzyFileSearch(params: protocol.FuzzyFileSearchParams, options?: CallOptions): Promise<protocol.FuzzyFileSearchResponse> {
    return this.request("fuzzyFileSearch", params, options);
  }

  /** Opens a search that stays up to date while the user types. Experimental. */
  fuzzyFileSearchSessionStart(params: protocol.FuzzyFileSearchSessionStartParams, options?: CallOptions): Promise<protocol.FuzzyFileSearchSessionStartResponse> {
    return this.request("fuzzyFileSearch/sessionStart", params, options);
  }

  /** Changes the query of an open search. Experimental. */
  fuzzyFileSearchSessionUpdate(params: protocol.FuzzyFileSearchSessionUpdateParams, options?: CallOptions): Promise<protocol.FuzzyFileSearchSessionUpdateResponse> {
    return this.request("fuzzyFileSearch/sessionUpdate", params, options);
  }

  /** Closes an open search. Experimental. */
  fuzzyFileSearchSessionStop(params: protocol.FuzzyFileSearchSessionStopParams, options?: CallOptions): Promise<protocol.FuzzyFileSearchSessionStopResponse> {
    return this.request("fuzzyFileSearch/sessionStop", params, options);
  }
}

//! No member of a request that limits what the model may touch is ignored. The members that requests of
//! protocol 0.166 have, nested ones included, are listed in `tests/data/request-members-0.166.0.txt`
//! (`Type.member`, or `Type.variant.member`). Each is read by our types, or stands in the list below with the
//! reason why ignoring it grants nothing.

use std::collections::BTreeSet;

use quipu_wire::describe::{Content, Field, Shape, Tagging, Ty, TypeDef};
use quipu_wire::method::{CLIENT_REQUESTS, SERVER_REQUESTS};

const MEMBERS: &str = include_str!("../data/request-members-0.166.0.txt");

/// Members that are ignored, with the reason why that grants nothing. `*` stands for the rest of a name.
const GRANTS_NOTHING: &[(&[&str], &str)] = &[
    (
        &[
            "ContentItem.*",
            "DynamicToolCallOutputContentItem.*",
            "FunctionCallOutputContentItem.*",
            "LocalShellAction.*",
            "ResponseItem.*",
            "UserInput.*",
        ],
        "content of messages and of the model's history",
    ),
    (
        &["DynamicToolSpec.*"],
        "a tool that the client itself brings; a namespace is refused for its missing `inputSchema`",
    ),
    (
        &[
            "ExperimentalFeatureListParams.threadId",
            "ListMcpServerStatusParams.*",
            "PluginListParams.*",
            "PluginReadParams.remoteMarketplaceName",
            "ThreadResumeParams.initialTurnsPage",
        ],
        "choose what an answer shows",
    ),
    (
        &["ExternalAgentConfig*", "PluginInstallParams.*"],
        "choose what is imported or installed; the request itself asks for that",
    ),
    (&["FeedbackUploadParams.tags"], "labels"),
    (
        &["InitializeCapabilities.*"],
        "offers of the client that are not taken up",
    ),
    (
        &["LoginAccountParams.*", "McpServerOauthLoginParams.*"],
        "ways to log in; unknown ones are refused",
    ),
    (&["ThreadRealtime*"], "voice, which is switched off"),
    (
        &[
            "ThreadForkParams.attachToSource",
            "ThreadForkParams.deferGoalContinuation",
            "ThreadForkParams.experimental*",
            "ThreadStartParams.historyMode",
        ],
        "choose which history a thread has and how it is kept",
    ),
    (
        &[
            "ThreadForkParams.threadSource",
            "ThreadMetadataUpdateParams.*",
            "ThreadStartParams.daybreakEnabled",
            "ThreadStartParams.projectId",
            "ThreadStartParams.sessionStartSource",
            "ThreadStartParams.threadSource",
            "TurnStartParams.clientUserMessageId",
            "TurnStartParams.parentTurnId",
            "TurnStartParams.responsesapiClientMetadata*",
            "TurnStartParams.rootTurnId",
            "TurnStartParams.turnTrigger",
            "TurnSteerParams.clientUserMessageId",
            "TurnSteerParams.responsesapiClientMetadata*",
        ],
        "labels for lists, statistics and the provider",
    ),
    (
        &[
            "TurnStartParams.additionalContext",
            "TurnStartParams.toolOutput",
            "TurnSteerParams.additionalContext",
        ],
        "more input for the model",
    ),
    (
        &[
            "ThreadStartParams.allowProviderModelFallback",
            "TurnStartParams.serviceTierForTurn",
        ],
        "choose the model, its price and its speed",
    ),
    (
        &[
            "ThreadStartParams.multiAgentMode",
            "TurnStartParams.multiAgentMode",
        ],
        "deprecated and ignored in 0.166 as well",
    ),
    (
        &[
            "ThreadStartParams.selectedCapabilityRoots",
            "TurnStartParams.cyberAccessProgram",
        ],
        "ask for more, which is not given",
    ),
    (
        &["AdditionalFileSystemPermissions.globScanMaxDepth"],
        "belongs to `entries`, which grant nothing",
    ),
    (
        &["ThreadShellCommandParams.timeoutMs"],
        "a time limit for a command that the user runs",
    ),
];

#[test]
fn members_that_limit_rights_are_read() {
    let mut known = Known::default();
    for row in CLIENT_REQUESTS {
        known.visit(row.params);
    }
    for row in SERVER_REQUESTS {
        row.result.into_iter().for_each(|ty| known.visit(ty));
    }
    let ignored: Vec<&str> = MEMBERS
        .lines()
        .filter(|line| known.types.contains(line.split('.').next().unwrap()))
        .filter(|line| !known.members.contains(*line))
        .collect();
    let listed = || GRANTS_NOTHING.iter().flat_map(|(members, _)| *members);
    let stands_for = |pattern: &str, member: &str| match pattern.strip_suffix('*') {
        Some(start) => member.starts_with(start),
        None => member == pattern,
    };
    let unjudged = ignored
        .iter()
        .filter(|member| !listed().any(|pattern| stands_for(pattern, member)));
    let unjudged: Vec<_> = unjudged.collect();
    assert!(
        unjudged.is_empty(),
        "read these members, or say why ignoring them grants nothing:\n{unjudged:#?}"
    );
    let stale = listed().filter(|pattern| !ignored.iter().any(|it| stands_for(pattern, it)));
    let stale: Vec<_> = stale.collect();
    assert!(
        stale.is_empty(),
        "listed as ignored, but read or gone:\n{stale:#?}"
    );
}

/// The types that requests carry, and their members.
#[derive(Default)]
struct Known {
    types: BTreeSet<&'static str>,
    members: BTreeSet<String>,
}

impl Known {
    fn visit(&mut self, ty: Ty) {
        match ty {
            Ty::Option(inner) | Ty::List(inner) | Ty::Map(inner) => self.visit(*inner),
            Ty::Named(def) => self.declared(def()),
            Ty::Bool | Ty::String | Ty::Integer(_) | Ty::Number(_) | Ty::Json => {}
        }
    }

    fn declared(&mut self, def: &'static TypeDef) {
        if !self.types.insert(def.json_name) {
            return;
        }
        match &def.shape {
            Shape::Alias(ty) => self.visit(*ty),
            Shape::Struct(fields, _) => self.fields(def.json_name, fields),
            Shape::Enum(tagging, variants) => {
                for variant in *variants {
                    let prefix = match tagging {
                        Tagging::Tagged(_) => format!("{}.{}", def.json_name, variant.name),
                        Tagging::Named | Tagging::Open(_) | Tagging::Untagged => {
                            def.json_name.to_owned()
                        }
                    };
                    self.members
                        .insert(format!("{}.{}", def.json_name, variant.name));
                    match &variant.content {
                        Content::Unit => {}
                        Content::One(ty) => self.visit(*ty),
                        Content::Fields(fields) => self.fields(&prefix, fields),
                    }
                }
            }
        }
    }

    fn fields(&mut self, prefix: &str, fields: &[Field]) {
        for field in fields {
            self.members.insert(format!("{prefix}.{}", field.name));
            self.visit(field.ty);
        }
    }
}

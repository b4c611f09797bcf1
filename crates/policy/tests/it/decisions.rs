//! Decisions beyond the recorded table: the sandbox, sessions, denials, patches, permissions, hosts
//! and MCP tools.

use std::path::{Path, PathBuf};

use quipu_policy::commands::{
    CommandQuestion, CommandRequest, CommandVerdict, Confinement, Run, decide_command,
};
use quipu_policy::guardian::{Assessment, guardian_reviews};
use quipu_policy::hosts::{NetworkVerdict, Target, decide_network};
use quipu_policy::mcp::{
    ToolApprovalMode, ToolHints, mcp_may_elicit, mcp_tool_needs_question, mcp_tool_question,
};
use quipu_policy::patches::{PatchFile, PatchVerdict, decide_patch};
use quipu_policy::permissions::{
    CommandTool, Grants, PermissionsVerdict, SandboxPermissions, decide_permissions, grant_text,
    intersect,
};
use quipu_policy::retry::{CommandRetry, after_command_denial, looks_denied};
use quipu_policy::rules::{NetworkDecision, NetworkProtocol, NetworkRule, Rules};
use quipu_policy::session::SessionApprovals;
use quipu_policy::settings::Settings;
use quipu_policy::texts;
use quipu_policy::writable::writable_roots;
use quipu_wire::{
    AdditionalPermissionProfile, ApprovalsReviewer, AskForApproval, GrantedPermissionProfile,
    PermissionGrantScope, RequestPermissionProfile, SandboxPolicy,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::{bash, words};

const CWD: &str = "/project";

fn from<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A thread's state, on-request and workspace-write unless changed.
struct World {
    policy: AskForApproval,
    sandbox: SandboxPolicy,
    rules: Rules,
    grants: Grants,
    session: SessionApprovals,
    writable: Vec<PathBuf>,
    feature: bool,
}

impl World {
    fn new() -> World {
        World {
            policy: AskForApproval::OnRequest,
            sandbox: from(json!({"type": "workspaceWrite"})),
            rules: Rules::default(),
            grants: Grants::default(),
            session: SessionApprovals::default(),
            writable: vec![PathBuf::from(CWD), PathBuf::from("/tmp")],
            feature: true,
        }
    }

    fn with_policy(policy: AskForApproval) -> World {
        World {
            policy,
            ..World::new()
        }
    }

    fn with_rules(source: &str) -> World {
        World {
            rules: Rules::parse(Path::new("test.rules"), source).unwrap(),
            ..World::new()
        }
    }

    fn settings(&self) -> Settings<'_> {
        Settings {
            approval_policy: &self.policy,
            sandbox: &self.sandbox,
            writable: &self.writable,
            shell: "/home/me/nix/bin/bash",
            rules: &self.rules,
            grants: &self.grants,
            session: &self.session,
            additional_permissions: self.feature,
        }
    }

    /// Decides about a patch; each file as it is written, and where it really is.
    fn decide_patch(&self, files: &[(&str, &str)]) -> PatchVerdict {
        let files = files.iter().map(|(written, path)| PatchFile {
            written: written.into(),
            path: path.into(),
        });
        let can_write = |path: &Path| {
            self.sandbox == SandboxPolicy::DangerFullAccess
                || self.writable.iter().any(|root| path.starts_with(root))
        };
        let files: Vec<_> = files.collect();
        decide_patch(&files, Path::new(CWD), can_write, &self.settings())
    }

    fn decide_with(
        &self,
        script: &str,
        permissions: SandboxPermissions,
        additional: Option<&AdditionalPermissionProfile>,
    ) -> CommandVerdict {
        self.decide_argv(&bash(script), permissions, additional)
    }

    fn decide_argv(
        &self,
        argv: &[String],
        permissions: SandboxPermissions,
        additional: Option<&AdditionalPermissionProfile>,
    ) -> CommandVerdict {
        let request = CommandRequest {
            argv,
            cwd: Path::new(CWD),
            tool: CommandTool::Shell,
            tty: false,
            permissions,
            additional_permissions: additional,
            justification: None,
            prefix_rule: &[],
        };
        decide_command(&request, &self.settings())
    }

    fn decide(&self, script: &str) -> CommandVerdict {
        self.decide_with(script, SandboxPermissions::UseDefault, None)
    }

    fn escalate(&self, script: &str) -> CommandVerdict {
        self.decide_with(script, SandboxPermissions::RequireEscalated, None)
    }
}

fn run(verdict: CommandVerdict) -> Run {
    match verdict {
        CommandVerdict::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

fn question(verdict: CommandVerdict) -> CommandQuestion {
    match verdict {
        CommandVerdict::Ask(question) => *question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_allowed_command_does_not_free_the_others() {
    let world = World::with_rules("prefix_rule(pattern=[\"date\"])");
    let confinement = |script: &str| run(world.decide(script)).confinement;
    for script in [
        "date",
        "date && date -u",
        "/usr/bin/date",
        "date | cat",
        "cd x && date",
    ] {
        assert_eq!(confinement(script), Confinement::Lifted, "{script}");
    }
    for script in [
        "date && touch /outside",
        "touch /outside; date",
        "date > /outside",
        "date | tee /outside",
        "./date",
        "date <<EOF\n$(touch /outside)\nEOF",
        "date <<EOF\n`touch /outside`\nEOF",
        "date <<EOF > /outside\nx\nEOF",
        "date <<EOF $(touch /outside)\nx\nEOF",
        "date <<A <<B\nx\nA\ny\nB",
        "date <<EOF\nE\\\nOF\ntouch /outside\nEOF",
        "/proc/self/root/project/date",
        "/etc/../project/date",
        "cd a/b && ../../date",
        "date && git -C evil status",
        "date && bash -c 'git status'",
        "date | uniq - /outside",
    ] {
        assert_eq!(confinement(script), Confinement::Policy, "{script}");
    }
    assert_eq!(confinement("date <<'EOF'\n$(x)\nEOF"), Confinement::Lifted);
    for (shell, expected) in [
        ("/usr/bin/zsh", Confinement::Lifted),
        ("sh", Confinement::Lifted),
        ("./bash", Confinement::Policy),
        ("/project/bin/sh", Confinement::Policy),
        ("/tmp/zsh", Confinement::Policy),
        ("/proc/self/root/project/bash", Confinement::Policy),
        ("/home/me/nix/bin/bash", Confinement::Lifted),
    ] {
        let argv = [shell, "-c", "date"].map(str::to_owned);
        let verdict = world.decide_argv(&argv, SandboxPermissions::UseDefault, None);
        assert_eq!(run(verdict).confinement, expected, "{shell}");
    }
}

/// A rule for a name does not hold for a file of the workspace, by whatever link it is called.
#[cfg(unix)]
#[test]
fn a_link_does_not_make_a_program_trusted() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let (work, other) = (directory.join("work"), directory.join("other"));
    for place in [&work, &other] {
        std::fs::create_dir(place).unwrap();
        std::fs::write(place.join("date"), "").unwrap();
        let alias = place.with_extension("alias");
        std::os::unix::fs::symlink(place, alias).unwrap();
    }
    let mut world = World::with_rules("prefix_rule(pattern=[\"date\"], decision=\"allow\")");
    world.writable = vec![work.clone()];
    for (place, expected) in [(work, Confinement::Policy), (other, Confinement::Lifted)] {
        let script = place.with_extension("alias").join("date");
        let verdict = world.decide(script.to_str().unwrap());
        assert_eq!(run(verdict).confinement, expected, "{script:?}");
    }
}

#[test]
fn looking_is_not_free_where_reading_is_held_back() {
    let mut world = World::with_rules("prefix_rule(pattern=[\"date\"])");
    world.sandbox = from(json!({"type": "readOnly", "access": {
        "type": "restricted", "includePlatformDefaults": true, "readableRoots": []}}));
    assert_eq!(
        run(world.decide("date && cat /secret")).confinement,
        Confinement::Policy
    );
    question(world.escalate("cat /secret"));
}

#[test]
fn looking_stays_in_the_sandbox_even_if_escalation_is_wanted() {
    let world = World::new();
    for script in ["ls", "git -C nested status"] {
        assert_eq!(
            run(world.escalate(script)).confinement,
            Confinement::Policy,
            "{script}"
        );
    }
    assert_eq!(
        question(world.escalate("./ls")).run.confinement,
        Confinement::Lifted
    );
    let network = from(json!({"network": {"enabled": true}}));
    let asked = SandboxPermissions::WithAdditionalPermissions;
    let allowed = run(world.decide_with("ls", asked, Some(&network)));
    assert_eq!(allowed.additional_permissions, None);
}

#[test]
fn what_was_accepted_for_the_session_is_not_asked_again() {
    let mut world = World::with_policy(AskForApproval::Untrusted);
    let asked = question(world.decide("touch made"));
    world.session.accept_command(asked.run.key);
    run(world.decide("touch made"));
    run(world.decide("touch  'made'"));
    question(world.decide("touch other"));
    question(world.decide("touch made && touch made"));
    for (harmless, other) in [("rm '*'", "rm *"), (r"rm 'a\ b'", r"rm a\ b")] {
        let asked = question(world.decide(harmless));
        world.session.accept_command(asked.run.key);
        run(world.decide(harmless));
        question(world.decide(other));
    }
    let scripts = question(world.decide("touch a && touch b"));
    world.session.accept_command(scripts.run.key);
    run(world.decide("touch a && touch b"));
    question(world.decide("touch a &&  touch b"));
    world.policy = AskForApproval::OnRequest;
    question(world.escalate("touch made"));
}

/// A file with the name of a shell does not run what was accepted for a shell.
#[test]
fn what_was_accepted_holds_for_real_shells_only() {
    let mut world = World::with_policy(AskForApproval::Untrusted);
    let asked = question(world.decide("touch made"));
    world.session.accept_command(asked.run.key);
    for (shell, accepted) in [("/bin/sh", true), ("/project/bash", false), ("./sh", false)] {
        let argv = [shell, "-c", "touch made"].map(str::to_owned);
        let verdict = world.decide_argv(&argv, SandboxPermissions::UseDefault, None);
        assert_eq!(
            matches!(verdict, CommandVerdict::Run(_)),
            accepted,
            "{shell}"
        );
    }
}

/// A grammar may join the lines of this script; bash runs the second.
#[test]
fn what_follows_a_continued_line_is_a_command_of_its_own() {
    let world = World::with_policy(AskForApproval::Untrusted);
    let asked = question(world.decide("ls\n\\\ntouch made"));
    assert_eq!(asked.run.confinement, Confinement::Policy);
    run(world.decide("ls \\\n -l"));
}

#[test]
fn what_may_become_an_option_is_not_known_to_only_look() {
    let world = World::with_policy(AskForApproval::Untrusted);
    for script in [
        "git diff *",
        "find *",
        "rg x ?a",
        "rg x [a-z]*",
        "uniq - made",
        "uniq -- a made",
        "git diff {--output=x,y}",
    ] {
        question(world.decide(script));
    }
    for script in [
        "git diff src/*.rs",
        "find . -name 'a*'",
        "cat *",
        "uniq -c a",
    ] {
        run(world.decide(script));
    }
}

#[test]
fn a_session_does_not_outweigh_a_forbidding_rule() {
    let mut world = World::with_policy(AskForApproval::Untrusted);
    let asked = question(world.decide("touch made"));
    world.session.accept_command(asked.run.key);
    world.rules = World::with_rules("prefix_rule([\"touch\"], \"forbidden\")").rules;
    let refused = CommandVerdict::Refuse(
        "`/bin/bash -c 'touch made'` rejected: policy forbids commands starting with `touch`"
            .into(),
    );
    assert_eq!(world.decide("touch made"), refused);
}

#[test]
fn denials_are_reported_by_exit_code_and_words() {
    assert!(looks_denied(1, &["touch: x: Read-only file system"]));
    assert!(looks_denied(1, &["", "OPERATION NOT PERMITTED"]));
    assert!(looks_denied(159, &[""]));
    for exit_code in [1, 2, 126, 127] {
        assert!(!looks_denied(exit_code, &["no such file"]));
    }
    assert!(!looks_denied(0, &["permission denied"]));
}

#[test]
fn after_a_denial_only_some_policies_ask() {
    let granular = |sandbox: bool| {
        from(
            json!({"granular": {"sandbox_approval": sandbox, "rules": false, "mcp_elicitations": false}}),
        )
    };
    for policy in [
        AskForApproval::Never,
        AskForApproval::OnRequest,
        granular(false),
    ] {
        let world = World::with_policy(policy);
        let ran = run(world.decide("touch /outside"));
        let retry = after_command_denial(&ran, &world.policy, &world.session);
        assert_eq!(retry, CommandRetry::Report);
    }
    for policy in [AskForApproval::OnFailure, granular(true)] {
        let mut world = World::with_policy(policy);
        let ran = run(world.decide("touch /outside"));
        let CommandRetry::Ask(asked) = after_command_denial(&ran, &world.policy, &world.session)
        else {
            panic!("not asked");
        };
        assert_eq!(
            asked.reason.as_deref(),
            Some("command failed; retry without sandbox?")
        );
        assert_eq!(asked.proposed_amendment.unwrap().0, words("touch /outside"));
        assert_eq!(asked.run.confinement, Confinement::Lifted);
        world.session.accept_command(asked.run.key);
        let again = after_command_denial(&ran, &world.policy, &world.session);
        assert!(
            matches!(again, CommandRetry::Again(run) if run.confinement == Confinement::Lifted)
        );
    }
    // Accepting a command is not accepting it without a sandbox.
    let mut world = World::with_policy(AskForApproval::Untrusted);
    let asked = question(world.decide("touch /outside"));
    world.session.accept_command(asked.run.key.clone());
    let retry = after_command_denial(&asked.run, &world.policy, &world.session);
    assert!(matches!(retry, CommandRetry::Ask(_)));
}

/// A link out of the workspace is found out when the sandbox stops the write, as with a command.
#[test]
fn patches_are_stopped_where_a_link_leads_outside() {
    let files = [("a.txt", "/project/a.txt"), ("link/x", "/elsewhere/x")];
    let decide = |policy| World::with_policy(policy).decide_patch(&files);
    let stop = PatchVerdict::Stop("link/x".into());
    let granular = |sandbox_approval| -> AskForApproval {
        from(json!({"granular": {
            "sandbox_approval": sandbox_approval, "rules": false, "mcp_elicitations": false}}))
    };
    assert_eq!(decide(AskForApproval::Never), stop);
    assert_eq!(decide(granular(false)), stop);
    let retry = Some("command failed; retry without sandbox?".to_owned());
    for (policy, reason) in [
        (AskForApproval::OnRequest, retry.clone()),
        (AskForApproval::OnFailure, retry.clone()),
        (granular(true), retry),
        (AskForApproval::Untrusted, None),
    ] {
        let verdict = decide(policy);
        assert!(
            matches!(&verdict, PatchVerdict::Ask(question) if question.reason == reason),
            "{verdict:?}"
        );
    }
}

#[test]
fn patches_are_judged_by_where_they_write() {
    let decide = |world: &World, files: &[&str]| {
        let files: Vec<_> = files.iter().map(|path| (*path, *path)).collect();
        world.decide_patch(&files)
    };
    let apply = PatchVerdict::Apply;
    let refused = PatchVerdict::Refuse(
        "patch rejected: writing outside of the project; rejected by user approval settings",
    );
    let mut world = World::new();
    assert_eq!(
        decide(&world, &[]),
        PatchVerdict::Refuse("patch rejected: empty patch")
    );
    assert_eq!(decide(&world, &["/project/c", "/tmp/x"]), apply);
    for (written, path) in [
        ("../a", "/a"),
        ("/project/../etc/x", "/etc/x"),
        ("/projector", "/projector"),
        (".git/config", "/project/.git/config"),
        (".quipu/x", "/project/.quipu/x"),
        ("/tmp/.agents/y", "/tmp/.agents/y"),
    ] {
        let verdict = world.decide_patch(&[("a", "/project/a"), (written, path)]);
        assert!(matches!(verdict, PatchVerdict::Ask(_)), "{written}");
    }
    assert_eq!(decide(&world, &["/project/sub/.git/x"]), apply);
    let PatchVerdict::Ask(asked) = decide(&world, &["/etc/a", "/etc/b"]) else {
        panic!("not asked");
    };
    world.session.accept_files(asked.files);
    assert_eq!(decide(&world, &["/etc/b"]), apply);
    assert!(matches!(
        decide(&world, &["/etc/b", "/etc/c"]),
        PatchVerdict::Ask(_)
    ));

    assert!(matches!(
        decide(
            &World::with_policy(AskForApproval::Untrusted),
            &["/project/a"]
        ),
        PatchVerdict::Ask(_)
    ));
    let on_failure = World::with_policy(AskForApproval::OnFailure);
    assert_eq!(decide(&on_failure, &["/project/a"]), apply);
    let PatchVerdict::Ask(asked) = decide(&on_failure, &["/etc/a"]) else {
        panic!("not asked");
    };
    let reason = Some("command failed; retry without sandbox?");
    assert_eq!(asked.reason.as_deref(), reason);
    let never = World::with_policy(AskForApproval::Never);
    assert_eq!(decide(&never, &["/project/a"]), apply);
    assert_eq!(decide(&never, &["/etc/a"]), refused);
    let open = World {
        sandbox: SandboxPolicy::DangerFullAccess,
        writable: Vec::new(),
        ..World::new()
    };
    assert_eq!(decide(&open, &["/etc/a"]), apply);
}

#[test]
fn writable_roots_follow_the_policy() {
    let roots = |sandbox: Value| {
        let tmpdir = Some(Path::new("/var/t"));
        writable_roots(&from(sandbox), Path::new(CWD), tmpdir)
    };
    let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(
        roots(json!({"type": "workspaceWrite", "writableRoots": ["/extra"]})),
        paths(&["/extra", "/project", "/tmp", "/var/t"])
    );
    let bare =
        json!({"type": "workspaceWrite", "excludeTmpdirEnvVar": true, "excludeSlashTmp": true});
    assert_eq!(roots(bare), paths(&["/project"]));
    assert_eq!(roots(json!({"type": "readOnly"})), paths(&[]));
    let no_tmp: SandboxPolicy = from(json!({"type": "workspaceWrite", "excludeSlashTmp": true}));
    let relative = writable_roots(&no_tmp, Path::new(CWD), Some(Path::new("t")));
    assert_eq!(relative, paths(&["/project"]));
}

#[test]
fn granted_permissions_stick() {
    let mut world = World::new();
    let requested: RequestPermissionProfile = from(json!({
        "network": {"enabled": true}, "fileSystem": {"write": ["/a", "/b"]}}));
    let answered: GrantedPermissionProfile = from(json!({
        "network": {"enabled": true}, "fileSystem": {"write": ["/a", "/c"], "read": ["/d"]}}));
    let granted = intersect(&requested, &answered);
    assert_eq!(
        grant_text(&granted, PermissionGrantScope::Turn),
        r#"{"permissions":{"network":{"enabled":true},"file_system":{"read":null,"write":["/a"]}},"scope":"turn"}"#
    );
    assert_eq!(
        grant_text(
            &GrantedPermissionProfile {
                network: None,
                file_system: None
            },
            PermissionGrantScope::Session
        ),
        r#"{"permissions":{"network":null,"file_system":null},"scope":"session"}"#
    );
    world.grants.add(&granted, PermissionGrantScope::Turn);

    let held = json!(run(world.decide("touch /a/x")).additional_permissions);
    assert_eq!(held["fileSystem"]["write"], json!(["/a"]));
    let more = SandboxPermissions::WithAdditionalPermissions;
    let wanted = |write: &str| from(json!({"fileSystem": {"write": [write]}}));
    run(world.decide_with("touch x", more, Some(&wanted("/a/sub"))));
    let asked = question(world.decide_with("touch x", more, Some(&wanted("/c"))));
    let shown = json!(asked.additional_permissions);
    assert_eq!(shown["fileSystem"]["write"], json!(["/c", "/a"]));
    assert_eq!(
        json!(asked.available_decisions),
        json!(["accept", "cancel"])
    );
    world.feature = false;
    run(world.decide_with("touch x", more, Some(&wanted("/a"))));
    assert!(matches!(
        world.decide_with("touch x", more, Some(&wanted("/c"))),
        CommandVerdict::Misuse(text) if text.starts_with("additional permissions are disabled")
    ));
    world.grants.end_turn();
    assert_eq!(world.grants.all(), None);
}

#[test]
fn wrong_requests_for_permissions_are_explained() {
    let world = World::new();
    let more = SandboxPermissions::WithAdditionalPermissions;
    let network = from(json!({"network": {"enabled": true}}));
    let cases = [
        (more, None, "missing `additional_permissions`"),
        (
            more,
            Some(from(json!({}))),
            "`additional_permissions` must include",
        ),
        (
            more,
            Some(from(json!({"network": {}, "fileSystem": {}}))),
            "`additional_permissions` must include",
        ),
        (
            SandboxPermissions::RequireEscalated,
            Some(network),
            "requires `sandbox_permissions` set to",
        ),
    ];
    for (asked, profile, message) in cases {
        let verdict = world.decide_with("touch x", asked, profile.as_ref());
        assert!(
            matches!(&verdict, CommandVerdict::Misuse(text) if text.contains(message)),
            "{verdict:?}"
        );
    }
    let never = World::with_policy(AskForApproval::Never);
    let request = CommandRequest {
        argv: &words("touch x"),
        cwd: Path::new(CWD),
        tool: CommandTool::ExecCommand,
        tty: false,
        permissions: SandboxPermissions::UseDefault,
        additional_permissions: Some(&from(json!({"network": {"enabled": true}}))),
        justification: None,
        prefix_rule: &[],
    };
    let verdict = decide_command(&request, &never.settings());
    let message = "you cannot ask for escalated permissions if the approval policy is Never";
    assert!(matches!(&verdict, CommandVerdict::Misuse(text) if text.ends_with(message)));
    let implied: AdditionalPermissionProfile = from(json!({"network": {"enabled": true}}));
    let asked =
        question(world.decide_with("touch x", SandboxPermissions::UseDefault, Some(&implied)));
    assert_eq!(asked.additional_permissions, Some(implied));
}

#[test]
fn permissions_are_asked_for_unless_nobody_is_there() {
    let some: RequestPermissionProfile = from(json!({"network": {"enabled": true}}));
    let none: RequestPermissionProfile = from(json!({}));
    let on_request = AskForApproval::OnRequest;
    assert_eq!(
        decide_permissions(&some, &on_request),
        PermissionsVerdict::Ask
    );
    assert_eq!(
        decide_permissions(&some, &AskForApproval::Never),
        PermissionsVerdict::GrantNothing
    );
    let granular = from(
        json!({"granular": {"sandbox_approval": true, "rules": true, "mcp_elicitations": true}}),
    );
    assert_eq!(
        decide_permissions(&some, &granular),
        PermissionsVerdict::GrantNothing
    );
    assert!(matches!(
        decide_permissions(&none, &on_request),
        PermissionsVerdict::Refuse(_)
    ));
}

#[test]
fn hosts_are_asked_about_once() {
    let target = Target {
        host: "example.com".to_owned(),
        protocol: NetworkProtocol::Https,
        port: 443,
    };
    assert_eq!(target.question_id(), "network#https#example.com#443");
    let mut world = World::new();
    let NetworkVerdict::Ask(asked) = decide_network(&target, &world.settings()) else {
        panic!("not asked");
    };
    assert_eq!(asked.reason, "example.com is not in the allowed_domains");
    assert_eq!(
        json!(asked.context),
        json!({"host": "example.com", "protocol": "https"})
    );
    assert_eq!(
        json!(asked.available_decisions),
        json!(["accept", "acceptForSession", {"applyNetworkPolicyAmendment": {
            "network_policy_amendment": {"host": "example.com", "action": "allow"}}}, "cancel"])
    );
    world.session.accept_target(target.clone());
    assert_eq!(
        decide_network(&target, &world.settings()),
        NetworkVerdict::Connect
    );
    let rule = |decision| NetworkRule {
        host: "example.com".to_owned(),
        protocol: NetworkProtocol::Https,
        decision,
        justification: None,
    };
    world.rules.push_network(rule(NetworkDecision::Allow));
    world.rules.push_network(rule(NetworkDecision::Deny));
    assert_eq!(
        decide_network(&target, &world.settings()),
        NetworkVerdict::Refuse
    );
    let never = World::with_policy(AskForApproval::Never);
    assert_eq!(
        decide_network(&target, &never.settings()),
        NetworkVerdict::Refuse
    );
}

#[test]
fn mcp_tools_are_asked_about_by_their_hints() {
    let hints = |read_only, destructive, open_world| ToolHints {
        read_only,
        destructive,
        open_world,
    };
    let asks = |world: &World, mode, hints| {
        mcp_tool_needs_question("s", "t", mode, hints, &world.settings())
    };
    let auto = ToolApprovalMode::Auto;
    let mut world = World::new();
    let table = [
        (hints(None, None, None), true),
        (hints(Some(true), None, None), false),
        (hints(Some(true), Some(true), None), true),
        (hints(Some(false), Some(false), Some(false)), false),
        (hints(Some(false), Some(false), None), true),
        (hints(None, Some(false), Some(true)), true),
    ];
    for (hints, expected) in table {
        assert_eq!(asks(&world, auto, hints), expected, "{hints:?}");
    }
    let plain = ToolHints::default();
    assert!(!asks(&world, ToolApprovalMode::Approve, plain));
    assert!(asks(
        &world,
        ToolApprovalMode::Prompt,
        hints(Some(true), None, None)
    ));
    assert!(asks(
        &World::with_policy(AskForApproval::Never),
        auto,
        plain
    ));
    world.session.accept_mcp_tool("s", "t");
    assert!(!asks(&world, auto, plain));
    assert!(asks(&world, ToolApprovalMode::Prompt, plain));
    let unattended = World {
        sandbox: SandboxPolicy::DangerFullAccess,
        ..World::with_policy(AskForApproval::Never)
    };
    assert!(!asks(&unattended, ToolApprovalMode::Prompt, plain));
    assert_eq!(
        mcp_tool_question("s", "t"),
        "Allow the s MCP server to run tool \"t\"?"
    );
    assert!(mcp_may_elicit(&AskForApproval::OnRequest));
    assert!(!mcp_may_elicit(&AskForApproval::Never));
}

#[test]
fn a_review_that_makes_no_sense_denies() {
    let reviewer = ApprovalsReviewer::GuardianSubagent;
    assert!(guardian_reviews(&AskForApproval::OnRequest, reviewer));
    assert!(!guardian_reviews(&AskForApproval::Never, reviewer));
    assert!(!guardian_reviews(
        &AskForApproval::OnRequest,
        ApprovalsReviewer::User
    ));
    let answer = |score: u32| {
        json!({"risk_level": "low", "risk_score": score, "rationale": "why", "evidence": []})
            .to_string()
    };
    assert!(Assessment::parse(&answer(79)).approves());
    assert!(!Assessment::parse(&answer(80)).approves());
    assert!(Assessment::parse(&format!("```json\n{}\n```", answer(5))).approves());
    let made_up = answer(5).replace("low", "none");
    for nonsense in ["", "{}", "yes", "} {", &answer(101), &answer(300), &made_up] {
        let assessment = Assessment::parse(nonsense);
        assert_eq!(assessment.risk_score, 100, "{nonsense}");
        assert!(!assessment.approves());
        assert_eq!(
            assessment.rationale,
            "Automatic approval review failed: guardian assessment was not valid JSON"
        );
    }
    assert!(!Assessment::timed_out().approves());
    assert!(
        Assessment::failed("no model")
            .refusal()
            .contains("no model")
    );
}

#[test]
fn the_model_learns_what_was_saved() {
    assert_eq!(
        texts::prefix_saved(&words("touch /etc/x")),
        "Approved command prefix saved:\n- [\"touch\", \"/etc/x\"]"
    );
}

//! The managed network: commands reach only whom lists, rules and people allow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::{Stage, calls, completed, order, run, say, status, text};

const ASKED: &str = "item/commandExecution/requestApproval";

/// A server that answers every request with `hello` and opens every tunnel; also a proxy to all hosts.
struct World {
    address: String,
    requests: Arc<AtomicUsize>,
}

impl World {
    async fn start() -> World {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&counter)));
            }
        });
        World { address, requests }
    }

    fn port(&self) -> &str {
        self.address.rsplit_once(':').unwrap().1
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn answer(mut stream: TcpStream, requests: Arc<AtomicUsize>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    requests.fetch_add(1, Ordering::SeqCst);
    let reply = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    stream.write_all(reply.as_bytes()).await.ok();
}

/// A stage whose administrator manages the network, with the world behind a proxy.
async fn managed(limits: &str) -> (Stage, World) {
    let world = World::start().await;
    let mut stage = Stage::with("").await;
    let etc = stage.directory().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let limits =
        format!("[experimental_network]\nenabled = true\nallow_upstream_proxy = true\n{limits}\n");
    std::fs::write(etc.join("requirements.toml"), limits).unwrap();
    stage.restart_with_env(&[("HTTP_PROXY", &format!("http://{}", world.address))]);
    (stage, world)
}

async fn thread(stage: &Stage) -> (Conversation, String) {
    let params = json!({ "approvalPolicy": "on-request", "sandbox": "workspace-write" });
    stage.thread_with(params).await
}

/// A command that asks its proxy for an address and prints the answer.
fn fetch(url: &str) -> String {
    format!(
        "gate=${{HTTP_PROXY#http://}}; exec 3<>/dev/tcp/${{gate%:*}}/${{gate#*:}}; \
         printf 'GET {url} HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n' >&3; cat <&3; exec 3>&-"
    )
}

fn exec(cmd: &str) -> Value {
    calls("exec_command", json!({ "cmd": cmd, "login": false }))
}

/// Runs a turn in which every question is answered alike; what was told, and the questions.
async fn answering(
    client: &mut Conversation,
    thread: &str,
    answer: Option<&Value>,
) -> (Vec<Value>, Vec<Value>) {
    say(client, thread, "fetch it").await;
    let (mut messages, mut questions) = (Vec::new(), Vec::new());
    loop {
        let message = client.next().await;
        if message["method"] == ASKED {
            match answer {
                Some(answer) => client.reply(&message["id"], answer.clone()).await,
                None => client.refuse(&message["id"]).await,
            }
            questions.push(message.clone());
        }
        let is_over = message["method"] == "turn/completed";
        messages.push(message);
        if is_over {
            return (messages, questions);
        }
    }
}

fn output(messages: &[Value]) -> String {
    let outputs = completed(messages, "commandExecution");
    outputs
        .iter()
        .map(|it| it["aggregatedOutput"].as_str().unwrap_or_default())
        .collect()
}

fn amendment(action: &str) -> Value {
    let amendment = json!({ "host": "public.example", "action": action });
    json!({ "decision": { "applyNetworkPolicyAmendment": { "network_policy_amendment": amendment } } })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_about_a_host_has_its_effect() {
    let accept = json!({ "decision": "accept" });
    let session = json!({ "decision": "acceptForSession" });
    let (allow, deny) = (amendment("allow"), amendment("deny"));
    let decline = json!({ "decision": "decline" });
    let nonsense = json!({ "nonsense": true });
    // The answer, whether the host is then reached, and the questions of that command and the next.
    let cases = [
        (Some(&accept), true, [1, 1]),
        (Some(&session), true, [1, 0]),
        (Some(&allow), true, [1, 0]),
        (Some(&deny), false, [1, 0]),
        (Some(&decline), false, [2, 2]),
        (Some(&nonsense), false, [2, 2]),
        (None, false, [2, 2]),
    ];
    for (answer, reached, counts) in cases {
        let (stage, world) = managed("").await;
        let (mut client, thread) = thread(&stage).await;
        for expected in counts {
            let twice = [
                fetch("http://public.example/a"),
                fetch("http://public.example/b"),
            ];
            stage.play([exec(&twice.join("; ")), json!({ "text": "done" })]);
            let before = world.requests();
            let (messages, questions) = answering(&mut client, &thread, answer).await;
            let case = format!("{answer:?}: {:?}", order(&messages));
            assert_eq!(status(&messages), "completed", "{case}");
            assert_eq!(questions.len(), expected, "{case}");
            assert_eq!(
                world.requests() - before,
                if reached { 2 } else { 0 },
                "{case}"
            );
            let sign = if reached { "hello" } else { "403 Forbidden" };
            assert_eq!(
                output(&messages).matches(sign).count(),
                2,
                "{case} {}",
                output(&messages)
            );
        }
        let saved = std::fs::read_to_string(stage.home().join("rules/default.rules"));
        if answer == Some(&allow) {
            assert_eq!(
                saved.unwrap(),
                "network_rule(host=\"public.example\", protocol=\"http\", decision=\"allow\", \
                 justification=\"Allow http access to public.example\")\n"
            );
            let note = "Allowed network rule saved in execpolicy (allowlist): public.example";
            assert!(stage.last_request().contains(note));
        } else if answer == Some(&deny) {
            assert!(saved.unwrap().contains("decision=\"deny\""));
            assert!(stage.last_request().contains("(denylist): public.example"));
        } else {
            saved.unwrap_err();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_says_which_host_and_what_can_be_answered() {
    let (stage, _world) = managed("").await;
    let (mut client, thread) = thread(&stage).await;
    stage.play([
        exec(&fetch("http://Public.example:8080/a")),
        json!({ "text": "done" }),
    ]);
    let turn = say(&mut client, &thread, "fetch it").await;
    let messages = client.until(ASKED).await;
    let waiting = "status active waitingOnApproval".to_owned();
    assert!(
        order(&messages).contains(&waiting),
        "{:?}",
        order(&messages)
    );
    let question = messages.last().unwrap();
    let asked_at = &question["params"]["startedAtMs"];
    assert!(asked_at.as_i64().unwrap() > 1_700_000_000_000);
    let host = |action: &str| json!({ "host": "public.example", "action": action });
    assert_eq!(
        question["params"],
        json!({
            "threadId": thread, "turnId": turn, "itemId": "network#http#public.example#8080",
            "startedAtMs": asked_at,
            "reason": "public.example is not in the allowed_domains",
            "networkApprovalContext": { "host": "public.example", "protocol": "http" },
            "proposedNetworkPolicyAmendments": [host("allow"), host("deny")],
            "availableDecisions": ["accept", "acceptForSession", {
                "applyNetworkPolicyAmendment": { "network_policy_amendment": host("allow") },
            }, "cancel"],
        })
    );
    client
        .reply(&question["id"], json!({ "decision": "cancel" }))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted", "cancel ends the turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_settles_a_question_about_a_host() {
    let (stage, world) = managed("").await;
    let (mut client, thread) = thread(&stage).await;
    stage.play([exec(&fetch("http://public.example/"))]);
    let turn = say(&mut client, &thread, "fetch it").await;
    let question = client.skip_to(ASKED).await;
    let named = json!({ "threadId": thread, "turnId": turn });
    client.ask("turn/interrupt", named).await;
    let mut messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    let resolved = |it: &Value| it["params"]["requestId"] == question["id"];
    if !messages.iter().any(resolved) {
        messages.extend(client.until("serverRequest/resolved").await);
    }
    assert!(messages.iter().any(resolved), "{:?}", order(&messages));
    assert_eq!(world.requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_decide_before_people_do() {
    let domains = "domains = { \"**.good.example\" = \"allow\", \"bad.good.example\" = \"deny\", \"*.local.example\" = \"allow\" }";
    let (stage, world) = managed(domains).await;
    let (mut client, thread) = thread(&stage).await;
    let cases = [
        ("http://good.example/", "hello"),
        ("http://a.good.example/", "hello"),
        ("http://bad.good.example/", "blocked-by-denylist"),
        ("http://localhost:1/", "not_allowed_local"),
        ("http://127.0.0.1:1/", "not_allowed_local"),
        ("http://[::ffff:10.0.0.1]:1/", "not_allowed_local"),
        (
            "http://169.254.169.254/latest/meta-data",
            "not_allowed_local",
        ),
        ("/no/address", "400 Bad Request"),
    ];
    for (url, sign) in cases {
        stage.play([exec(&fetch(url)), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "fetch it").await;
        assert!(
            output(&messages).contains(sign),
            "{url}: {}",
            output(&messages)
        );
        assert!(!messages.iter().any(|it| it["method"] == ASKED), "{url}");
    }
    assert_eq!(world.requests(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_of_this_machine_can_be_allowed_by_name() {
    let (stage, world) = managed("domains = { \"127.0.0.1\" = \"allow\" }").await;
    let (mut client, thread) = thread(&stage).await;
    let url = format!("http://127.0.0.1:{}/", world.port());
    let port: u16 = world.port().parse().unwrap();
    let [high, low] = port.to_be_bytes();
    let socks = format!(
        "gate=${{ALL_PROXY##*/}}; exec 3<>/dev/tcp/${{gate%:*}}/${{gate#*:}}; \
         printf '\\x05\\x01\\x00\\x05\\x01\\x00\\x01\\x7f\\x00\\x00\\x01\\x{high:02x}\\x{low:02x}' >&3; \
         head -c 12 <&3 >/dev/null; printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
    );
    let straight = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo out || echo held");
    for (command, sign) in [(fetch(&url), "hello"), (socks, "hello"), (straight, "held")] {
        stage.play([exec(&command), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "fetch it").await;
        assert!(output(&messages).contains(sign), "{}", output(&messages));
    }
    assert_eq!(world.requests(), 2);
}

/// Most programs connect to what `NO_PROXY` lists without the gate, and so to nothing but themselves.
#[tokio::test(flavor = "multi_thread")]
async fn programs_that_heed_no_proxy_reach_what_is_allowed() {
    let cases = [
        ("workspace-write", "", "localhost,127.0.0.1,::1\n"),
        (
            "workspace-write",
            "domains = { \"127.0.0.1\" = \"allow\", \"*\" = \"allow\" }",
            "localhost,::1\n",
        ),
        (
            "danger-full-access",
            "domains = { \"127.0.0.1\" = \"allow\" }",
            "localhost,127.0.0.1,::1,*.local,.local,169.254.0.0/16,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16\n",
        ),
    ];
    for (sandbox, limits, expected) in cases {
        let (stage, _world) = managed(limits).await;
        let params = json!({ "approvalPolicy": "never", "sandbox": sandbox });
        let (mut client, thread) = stage.thread_with(params).await;
        stage.play([exec("echo $NO_PROXY"), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "which ones").await;
        assert_eq!(output(&messages), expected, "{sandbox} {limits}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_where_nobody_may_be() {
    let only = "managed_allowed_domains_only = true";
    let cases = [
        (
            "",
            json!({ "approvalPolicy": "never", "sandbox": "workspace-write" }),
        ),
        (
            "",
            json!({ "approvalPolicy": "on-request", "sandbox": "danger-full-access" }),
        ),
        (
            only,
            json!({ "approvalPolicy": "on-request", "sandbox": "workspace-write" }),
        ),
    ];
    for (limits, params) in cases {
        let (stage, world) = managed(limits).await;
        let (mut client, thread) = stage.thread_with(params.clone()).await;
        stage.play([
            exec(&fetch("http://public.example/")),
            json!({ "text": "done" }),
        ]);
        let messages = run(&mut client, &thread, "fetch it").await;
        assert!(
            output(&messages).contains("blocked-by-allowlist"),
            "{params} {}",
            output(&messages)
        );
        assert_eq!(world.requests(), 0, "{params}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_limits_the_network_of_those_who_chose_it() {
    let world = World::start().await;
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let stage = Stage::at(directory, home.clone(), "").await;
    let config = std::fs::read_to_string(home.join("config.toml")).unwrap();
    let config = config.replace(
        "sandbox_mode = \"danger-full-access\"",
        "default_permissions = \"dev\"",
    );
    let profile = "\n[permissions.dev.filesystem]\n\":root\" = \"read\"\n[permissions.dev.network]\nenabled = true\nmode = \"limited\"\ndomains = { \"127.0.0.1\" = \"allow\" }\n";
    std::fs::write(home.join("config.toml"), config + profile).unwrap();
    let params = json!({ "approvalPolicy": "on-request" });
    let (mut client, thread) = stage.thread_with(params).await;
    let url = format!("http://127.0.0.1:{}/", world.port());
    let post = fetch(&url).replace("'GET", "'POST");
    let tunnel = fetch(&format!("127.0.0.1:{}", world.port())).replace("'GET", "'CONNECT");
    let cases = [
        (fetch(&url), "hello"),
        (fetch("http://public.example/"), "blocked-by-allowlist"),
        (post, "blocked-by-method-policy"),
        (tunnel, "blocked-by-mitm-required"),
    ];
    for (command, sign) in cases {
        stage.play([exec(&command), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "fetch it").await;
        assert!(
            output(&messages).contains(sign),
            "{command}: {}",
            output(&messages)
        );
    }
    assert_eq!(world.requests(), 1);
}

/// A profile that limits hosts must not give the commands of clients more than those of the model.
#[tokio::test(flavor = "multi_thread")]
async fn commands_of_clients_reach_what_the_lists_allow() {
    let world = World::start().await;
    let profile = "[permissions.dev.filesystem]\n\":root\" = \"read\"\n[permissions.dev.network]\nenabled = true\n\
                   domains = { \"127.0.0.1\" = \"allow\", \"bad.example\" = \"deny\" }\n";
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let stage = Stage::at(directory, home, profile).await;
    let mut client = stage.client().await;
    let port = world.port();
    let straight = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo out");
    let cases = [
        (fetch(&format!("http://127.0.0.1:{port}/")), "hello"),
        (fetch("http://public.example/"), "blocked-by-allowlist"),
        (fetch("http://bad.example/"), "blocked-by-denylist"),
        (straight, ""),
    ];
    for (script, sign) in cases {
        let params = json!({
            "command": ["bash", "-c", script], "permissionProfile": "dev", "timeoutMs": 60_000,
            "env": { "HTTP_PROXY": "http://127.0.0.1:1" },
        });
        let ran = client.call("command/exec", params).await;
        let stdout = ran["stdout"].as_str().unwrap();
        assert!(stdout.contains(sign), "{script}: {ran}");
        assert_eq!(stdout.is_empty(), sign.is_empty(), "{script}: {ran}");
    }
    assert_eq!(world.requests(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_host_declines_a_plain_command() {
    let (stage, _world) = managed("").await;
    let (mut client, thread) = thread(&stage).await;
    let command = fetch("http://public.example/");
    let call = calls(
        "shell_command",
        json!({ "command": command, "login": false }),
    );
    stage.play([call, json!({ "text": "done" })]);
    let decline = json!({ "decision": "decline" });
    let (messages, _) = answering(&mut client, &thread, Some(&decline)).await;
    let items = completed(&messages, "commandExecution");
    assert_eq!(text(&items[0]["status"]), "declined");
    assert!(
        stage
            .last_request()
            .contains("exec command rejected by user")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewing_model_decides_about_hosts_too() {
    let (stage, world) = managed("").await;
    let params = json!({
        "approvalPolicy": "on-request", "sandbox": "workspace-write",
        "approvalsReviewer": "guardian_subagent",
    });
    let (mut client, thread) = stage.thread_with(params).await;
    for (score, sign) in [(5, "hello"), (95, "blocked-by-allowlist")] {
        let verdict =
            json!({ "risk_level": "low", "risk_score": score, "rationale": "r", "evidence": [] });
        let judged = json!({ "text": verdict.to_string() });
        stage.play([
            exec(&fetch("http://public.example/")),
            judged,
            json!({ "text": "done" }),
        ]);
        let messages = run(&mut client, &thread, "fetch it").await;
        assert!(output(&messages).contains(sign), "{}", output(&messages));
        let review = messages
            .iter()
            .find(|it| it["method"] == "item/autoApprovalReview/completed")
            .unwrap();
        assert_eq!(
            review["params"]["targetItemId"],
            "network#http#public.example#80"
        );
        assert_eq!(
            review["params"]["action"],
            json!({
                "tool": "network_access", "target": "http://public.example:80",
                "host": "public.example", "protocol": "http", "port": 80, "type": "networkAccess",
            })
        );
    }
    assert_eq!(world.requests(), 1);
}

/// Looking up a name tells it to name servers, so what is not allowed is not looked up: a name that leads
/// nowhere is refused like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_allowed_is_not_looked_up() {
    let mut stage = Stage::with("").await;
    let etc = stage.directory().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let limits = "[experimental_network]\nenabled = true\n";
    std::fs::write(etc.join("requirements.toml"), limits).unwrap();
    stage.restart().await;
    for policy in ["never", "on-request"] {
        let params = json!({ "approvalPolicy": policy, "sandbox": "workspace-write" });
        let (mut client, thread) = stage.thread_with(params).await;
        stage.play([
            exec(&fetch("http://told.invalid/")),
            json!({ "text": "no" }),
        ]);
        let decline = json!({ "decision": "decline" });
        let (messages, _) = answering(&mut client, &thread, Some(&decline)).await;
        let output = output(&messages);
        assert!(output.contains("\"reason\":\"not_allowed\""), "{output}");
    }
}

/// The next proxy knows nobody's lists, so it gets the one request that was admitted.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_request_does_not_slip_through_to_the_next_proxy() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stage = Stage::with("").await;
    let etc = stage.directory().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let limits = "[experimental_network]\nenabled = true\nallow_upstream_proxy = true\n\
                  [experimental_network.domains]\n\"good.example\" = \"allow\"\n";
    std::fs::write(etc.join("requirements.toml"), limits).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    stage.restart_with_env(&[("HTTP_PROXY", &address)]);
    let (mut client, thread) = thread(&stage).await;
    let two = "http://good.example/ HTTP/1.1\\r\\ncontent-length: 4\\r\\n\\r\\nbodyGET http://bad.example/";
    stage.play([exec(&fetch(two)), json!({ "text": "done" })]);
    let serving = tokio::spawn(async move {
        let (mut stream, _) = proxy.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"body") && stream.read_buf(&mut received).await.unwrap() > 0 {}
        let reply = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        stream.write_all(reply.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut received).await.unwrap();
        String::from_utf8(received).unwrap()
    });
    let messages = run(&mut client, &thread, "fetch").await;
    assert!(
        output(&messages).ends_with("hello"),
        "{}",
        output(&messages)
    );
    let received = serving.await.unwrap();
    assert!(received.ends_with("\r\n\r\nbody"), "{received}");
}

//! Voice conversations: both versions of the protocol, work that is handed over, and providers that misbehave.
//! What is expected was observed at the official server.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::voice::{Voice, VoiceServer};
use serde_json::{Value, json};

use crate::stage::{Stage, order, run, status, text};

/// A thread whose voice API is the test's.
async fn talk(realtime: &str, more: &str) -> (Stage, VoiceServer, Conversation, String) {
    let server = VoiceServer::start().await.unwrap();
    let settings = format!(
        "experimental_realtime_ws_base_url = \"{}\"\n{more}\nfeatures.realtime_conversation = true\n\
         [realtime]\n{realtime}",
        server.url()
    );
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let provider = "wire_api = \"responses\"\nexperimental_bearer_token = \"tok-12345678\"";
    let stage = Stage::build(directory, home, &settings, provider).await;
    let (client, thread) = stage.thread().await;
    (stage, server, client, thread)
}

const NO_CONTEXT: &str = "experimental_realtime_ws_startup_context = \"\"";

/// Begins a conversation; the provider's end of it and the message that sets it up.
async fn begin(server: &VoiceServer, client: &mut Conversation, thread: &str) -> (Voice, Value) {
    let params = json!({ "threadId": thread, "prompt": "PROMPT" });
    client.call("thread/realtime/start", params).await;
    let mut voice = server.accept().await.unwrap();
    let update = voice.hear().await.unwrap();
    client.skip_to("thread/realtime/started").await;
    (voice, update)
}

async fn append_text(client: &mut Conversation, thread: &str, words: &str) {
    let params = json!({ "threadId": thread, "text": words });
    client.call("thread/realtime/appendText", params).await;
}

/// The params of the next notification of a method.
async fn next(client: &mut Conversation, method: &str) -> Value {
    let mut params = client.until(method).await.pop().unwrap()["params"].take();
    params.as_object_mut().unwrap().remove("threadId");
    params
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_version_is_spoken() {
    let (_stage, server, mut client, thread) = talk("", NO_CONTEXT).await;
    let (mut voice, update) = begin(&server, &mut client, &thread).await;
    assert_eq!(voice.path, "/v1/realtime?intent=quicksilver");
    assert_eq!(voice.headers["authorization"], "Bearer tok-12345678");
    assert_eq!(voice.headers["x-session-id"], thread);
    assert_eq!(voice.headers["originator"], "testkit");
    let pcm = json!({ "type": "audio/pcm", "rate": 24000 });
    let wanted = json!({ "type": "session.update", "session": {
        "type": "quicksilver",
        "instructions": "PROMPT",
        "audio": { "input": { "format": pcm }, "output": { "voice": "fathom" } },
    } });
    assert_eq!(update, wanted);
    append_text(&mut client, &thread, "hello").await;
    let audio = json!({ "data": "AAAA", "sampleRate": 24000, "numChannels": 1 });
    let params = json!({ "threadId": thread, "audio": audio });
    client.call("thread/realtime/appendAudio", params).await;
    let content = json!([{ "type": "text", "text": "hello" }]);
    let wanted = json!({ "type": "conversation.item.create", "item": { "type": "message", "role": "user", "content": content } });
    assert_eq!(voice.hear().await.unwrap(), wanted);
    let wanted = json!({ "type": "input_audio_buffer.append", "audio": "AAAA" });
    assert_eq!(voice.hear().await.unwrap(), wanted);

    let sound = json!({ "type": "conversation.output_audio.delta", "data": "QUJD", "sample_rate": 16000, "num_channels": 2 });
    voice.say(sound).await;
    let wanted = json!({ "audio": { "data": "QUJD", "sampleRate": 16000, "numChannels": 2, "samplesPerChannel": null, "itemId": null } });
    let got = next(&mut client, "thread/realtime/outputAudio/delta").await;
    assert_eq!(got, wanted);
    let said = json!({ "type": "conversation.output_transcript.delta", "delta": "yo" });
    voice.say(said).await;
    let got = next(&mut client, "thread/realtime/transcriptUpdated").await;
    assert_eq!(got, json!({ "role": "assistant", "text": "yo" }));
    let item = json!({ "type": "message", "id": "i1" });
    voice
        .say(json!({ "type": "conversation.item.added", "item": item }))
        .await;
    let got = next(&mut client, "thread/realtime/itemAdded").await;
    assert_eq!(got, json!({ "item": item }));

    let stop = json!({ "threadId": thread });
    for _ in 0..2 {
        client.call("thread/realtime/stop", stop.clone()).await;
        let got = next(&mut client, "thread/realtime/closed").await;
        assert_eq!(got, json!({ "reason": "requested" }));
    }
    assert!(voice.hear().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_version_is_spoken() {
    let more = "experimental_realtime_ws_startup_context = \"CONTEXT\"\n\
                experimental_realtime_ws_model = \"voice-1\"\n\
                experimental_realtime_ws_backend_prompt = \"BACKEND\"";
    let (_stage, server, mut client, thread) = talk("version = \"v2\"", more).await;
    let (mut voice, update) = begin(&server, &mut client, &thread).await;
    assert_eq!(voice.path, "/v1/realtime?model=voice-1");
    let session = &update["session"];
    assert_eq!(session["type"], "realtime");
    assert_eq!(session["instructions"], "BACKEND\n\nCONTEXT");
    assert_eq!(session["tools"][0]["name"], "codex");
    assert_eq!(session["audio"]["output"]["voice"], "marin");
    append_text(&mut client, &thread, "hello").await;
    assert_eq!(
        voice.hear().await.unwrap()["item"]["content"][0]["type"],
        "input_text"
    );
    assert_eq!(
        voice.hear().await.unwrap(),
        json!({ "type": "response.create" })
    );
    let created = json!({ "type": "response.created", "response": { "id": "r1" } });
    voice.say(created.clone()).await;
    let got = next(&mut client, "thread/realtime/itemAdded").await;
    assert_eq!(got, json!({ "item": created }));
    let sound = json!({ "type": "response.output_audio.delta", "delta": "QUJD", "item_id": "a1" });
    voice.say(sound).await;
    let got = next(&mut client, "thread/realtime/outputAudio/delta").await;
    assert_eq!(got["audio"]["itemId"], "a1");
    assert_eq!(got["audio"]["sampleRate"], 24000);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_writing_down_is_possible() {
    let realtime = "version = \"v2\"\ntype = \"transcription\"";
    let (_stage, server, mut client, thread) = talk(realtime, "").await;
    let (_voice, update) = begin(&server, &mut client, &thread).await;
    let pcm = json!({ "type": "audio/pcm", "rate": 24000 });
    let wanted = json!({ "type": "transcription", "audio": { "input": { "format": pcm } } });
    assert_eq!(update["session"], wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_handed_over_becomes_a_turn() {
    let (stage, server, mut client, thread) = talk("", NO_CONTEXT).await;
    let (mut voice, _) = begin(&server, &mut client, &thread).await;
    stage.play([json!({ "text": "done it" })]);
    let transcript = [
        json!({ "type": "conversation.input_transcript.delta", "delta": "fix " }),
        json!({ "type": "conversation.input_transcript.delta", "delta": "it" }),
        json!({ "type": "conversation.output_transcript.delta", "delta": "sure" }),
        json!({ "type": "conversation.handoff.requested", "handoff_id": "h1", "item_id": "i1", "input_transcript": "fix it" }),
    ];
    for message in transcript {
        voice.say(message).await;
    }
    let got = next(&mut client, "thread/realtime/itemAdded").await;
    let wanted = json!({ "item": {
        "type": "handoff_request", "handoff_id": "h1", "item_id": "i1", "input_transcript": "fix it",
        "active_transcript": [{ "role": "user", "text": "fix it" }, { "role": "assistant", "text": "sure" }],
    } });
    assert_eq!(got, wanted);
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let sent = stage.last_request();
    assert!(sent.contains("user: fix it\\nassistant: sure"), "{sent}");
    assert!(sent.contains("<realtime_conversation>"), "{sent}");
    let wanted = json!({ "type": "conversation.handoff.append", "handoff_id": "h1", "output_text": "\"Agent Final Message\":\n\ndone it" });
    assert_eq!(voice.hear().await.unwrap(), wanted);
    // What the user types is no work of the voice model, and the model learns that nobody speaks any more.
    client
        .call("thread/realtime/stop", json!({ "threadId": thread }))
        .await;
    stage.play([json!({ "text": "ok" })]);
    run(&mut client, &thread, "typed").await;
    assert!(stage.last_request().contains("types again"));
    assert!(voice.hear().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_the_second_version_gets_its_result() {
    let (stage, server, mut client, thread) = talk("version = \"v2\"", "").await;
    let (mut voice, _) = begin(&server, &mut client, &thread).await;
    let call = |id: &str| json!({ "type": "conversation.item.done", "item": { "type": "function_call", "name": "codex", "id": "f", "call_id": id, "arguments": "{\"prompt\":\"go\"}" } });
    for (answer, wanted) in [
        (json!({ "text": "all done" }), "all done"),
        (json!({ "fail": 400, "body": "bad" }), "bad"),
    ] {
        stage.play([answer]);
        voice.say(call("c1")).await;
        client.skip_to("turn/completed").await;
        let result = voice.hear().await.unwrap();
        assert_eq!(result["item"]["type"], "function_call_output");
        assert_eq!(result["item"]["call_id"], "c1");
        let output = text(&result["item"]["output"]);
        assert!(
            output.starts_with("\"Agent Final Message\":\n\n"),
            "{output}"
        );
        assert!(output.contains(wanted), "{output}");
        assert_eq!(
            voice.hear().await.unwrap(),
            json!({ "type": "response.create" })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_ends_is_reported() {
    let (_stage, server, mut client, thread) = talk("", "").await;
    let (voice, _) = begin(&server, &mut client, &thread).await;
    voice.close().await;
    let got = next(&mut client, "thread/realtime/closed").await;
    assert_eq!(got, json!({ "reason": "transport_closed" }));
    // A connection that breaks, an error of the provider, and something that is no text.
    for (n, wanted) in ["Connection reset", "boom", "unexpected binary"]
        .iter()
        .enumerate()
    {
        let (mut voice, _) = begin(&server, &mut client, &thread).await;
        match n {
            0 => drop(voice),
            1 => {
                voice
                    .say(json!({ "type": "error", "error": { "message": "boom" } }))
                    .await;
            }
            _ => voice.say_bytes(b"abc").await,
        }
        let error = next(&mut client, "thread/realtime/error").await;
        assert!(text(&error["message"]).contains(wanted), "{error}");
        let got = next(&mut client, "thread/realtime/closed").await;
        assert_eq!(got, json!({ "reason": "error" }));
    }
    let params = json!({ "threadId": thread, "text": "anybody?" });
    let refused = client.refused("thread/realtime/appendText", params).await;
    assert_eq!(refused, "conversation is not running");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_cannot_begin_is_reported() {
    let (stage, server, mut client, thread) = talk("", "").await;
    let params = json!({ "threadId": thread, "prompt": "P" });
    client.call("thread/realtime/start", params.clone()).await;
    server.refuse(401).await.unwrap();
    let error = next(&mut client, "thread/realtime/error").await;
    let wanted = "stream disconnected before completion: failed to connect realtime websocket: HTTP error: 401 Unauthorized";
    assert_eq!(error["message"], wanted);
    drop(server);
    client.call("thread/realtime/start", params).await;
    next(&mut client, "thread/realtime/error").await;
    stage.play([json!({ "text": "fine" })]);
    let messages = run(&mut client, &thread, "hello").await;
    assert_eq!(status(&messages), "completed", "the thread goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_conversation_takes_the_place_of_the_first() {
    let (_stage, server, mut client, thread) = talk("", "").await;
    let (mut first, _) = begin(&server, &mut client, &thread).await;
    let (mut second, _) = begin(&server, &mut client, &thread).await;
    assert!(first.hear().await.is_none());
    append_text(&mut client, &thread, "hi").await;
    assert_eq!(
        second.hear().await.unwrap()["type"],
        "conversation.item.create"
    );
}

/// Garbage is ignored, and a provider that never stops talking neither ends the thread nor loses anything.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_floods_do_no_harm() {
    let (stage, server, mut client, thread) = talk("", "").await;
    let (mut voice, _) = begin(&server, &mut client, &thread).await;
    for text in [
        "",
        "garbage",
        "[1]",
        "{\"type\":7}",
        "{\"type\":\"unheard.of\"}",
    ] {
        voice.say_text(text).await;
    }
    const FLOOD: usize = 2_000;
    let flood = tokio::spawn(async move {
        for n in 0..FLOOD {
            let said = format!("{n} ");
            voice
                .say(json!({ "type": "conversation.output_transcript.delta", "delta": said }))
                .await;
        }
        voice
    });
    for n in 0..FLOOD {
        let got = next(&mut client, "thread/realtime/transcriptUpdated").await;
        assert_eq!(got["text"], format!("{n} "));
    }
    let voice = flood.await.unwrap();
    stage.play([json!({ "text": "still here" })]);
    let messages = run(&mut client, &thread, "hello").await;
    assert!(order(&messages).contains(&"turn/completed completed".to_owned()));
    drop(voice);
}

/// A provider that reads nothing: sound is dropped, and words are refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_read_is_no_burden() {
    let (_stage, server, mut client, thread) = talk("", "").await;
    let (_voice, _) = begin(&server, &mut client, &thread).await;
    let sound = "A".repeat(64 * 1024);
    let audio = json!({ "data": sound, "sampleRate": 24000, "numChannels": 1 });
    let params = json!({ "threadId": thread, "audio": audio });
    for _ in 0..400 {
        client
            .call("thread/realtime/appendAudio", params.clone())
            .await;
    }
    client
        .call("thread/realtime/stop", json!({ "threadId": thread }))
        .await;
    let got = next(&mut client, "thread/realtime/closed").await;
    assert_eq!(got, json!({ "reason": "requested" }));
}

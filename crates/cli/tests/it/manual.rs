//! `docs/models.md`: every configuration on the page is loaded as it is and asks a model.

use quipu_testkit::client::within;
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};

use crate::exec::{Place, text};

/// Title, variable of the key, path, and the header with the key.
type Section = (
    &'static str,
    &'static str,
    &'static str,
    Option<(&'static str, &'static str)>,
);

/// What the file of each section sends.
const SECTIONS: [Section; 12] = [
    ("OpenAI", "OPENAI_API_KEY", "/v1/responses", Some(BEARER)),
    (
        "Anthropic",
        "ANTHROPIC_API_KEY",
        "/v1/messages",
        Some(("x-api-key", "k1")),
    ),
    ("OpenRouter", "OPENROUTER_API_KEY", CHAT, Some(BEARER)),
    ("Gemini", "GEMINI_API_KEY", CHAT, Some(BEARER)),
    ("Groq", "GROQ_API_KEY", CHAT, Some(BEARER)),
    (
        "Azure",
        "AZURE_OPENAI_API_KEY",
        "/v1/responses",
        Some(BEARER),
    ),
    ("Ollama", "UNUSED", CHAT, None),
    ("LM Studio", "UNUSED", CHAT, None),
    ("llama.cpp", "UNUSED", CHAT, None),
    ("vLLM", "UNUSED", CHAT, None),
    ("Any other server", "MY_SERVER_KEY", CHAT, Some(BEARER)),
    ("Slow models", "UNUSED", CHAT, None),
];
const CHAT: &str = "/v1/chat/completions";
const BEARER: (&str, &str) = ("authorization", "Bearer k1");

/// The sections of the page that have a file, with that file.
fn files() -> Vec<(&'static str, &'static str)> {
    let page = include_str!("../../../../docs/models.md");
    let sections = page.split("\n## ").skip(1);
    let file = |section: &'static str| {
        let (title, rest) = section.split_once('\n')?;
        let (_, block) = rest.split_once("```toml\n")?;
        assert!(!block.contains("```toml"), "{title} has several files");
        Some((title, block.split("```").next()?))
    };
    sections.filter_map(file).collect()
}

/// The value of a key at the top of a file.
fn value<'a>(file: &'a str, key: &str) -> &'a str {
    let prefix = format!("{key} = \"");
    let line = file.lines().find_map(|it| it.strip_prefix(&prefix));
    line.unwrap().trim_end_matches('"')
}

#[tokio::test]
async fn every_configuration_of_the_page_asks_its_model() {
    let files = files();
    let titles: Vec<&str> = files.iter().map(|(title, _)| *title).collect();
    assert_eq!(titles, SECTIONS.map(|(title, ..)| title));
    for ((title, file), (_, variable, path, key)) in files.into_iter().zip(SECTIONS) {
        let model = ModelServer::start().await.unwrap();
        let place = Place::new();
        let home = place.directory.path().join(".quipu");
        std::fs::write(home.join("config.toml"), file).unwrap();
        // The same file, but for the address.
        let id = value(file, "model_provider");
        let url = model.base_url();
        let moved = match id {
            "openai" => format!("openai_base_url={url:?}"),
            // Official ids, which cannot be declared; a variable moves them.
            "ollama" | "lmstudio" => format!("model_provider={id:?}"),
            _ if file.contains("[model_providers.") => {
                format!("model_providers.{id}.base_url={url:?}")
            }
            _ => format!("model_providers.{id}={{ name = {title:?}, base_url = {url:?} }}"),
        };
        model.queue_json(json!({ "text": "hello" }));
        let mut command = place.command(&["-c", &moved, "hi"]);
        command.env("CODEX_OSS_BASE_URL", &url);
        command
            .env(variable, "k1")
            .stdin(std::process::Stdio::null());
        let output = within("the end of a run", command.output()).await.unwrap();
        assert_eq!(text(&output.stdout), "hello\n", "{title}: {output:?}");
        assert!(
            !text(&output.stderr).contains("warning:"),
            "{title}: {output:?}"
        );

        let asked = model.requests().last().unwrap().clone();
        assert_eq!(asked.path, path, "{title}");
        assert_eq!(asked.body["model"], value(file, "model"), "{title}");
        match key {
            Some((header, value)) => assert_eq!(asked.headers[header], value, "{title}"),
            None => assert!(!asked.headers.contains_key("authorization"), "{title}"),
        }
        let has = |member: &str| asked.body.get(member).is_some_and(Value::is_array);
        assert_eq!(has("input"), path.ends_with("/responses"), "{title}");
        assert_eq!(has("messages"), !path.ends_with("/responses"), "{title}");
        let needs_limit = path.ends_with("/messages");
        assert_eq!(asked.body["max_tokens"].is_number(), needs_limit, "{title}");
    }
}

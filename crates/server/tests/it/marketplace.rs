//! A marketplace with plugins, for tests of them.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_testkit::mcp::ARGUMENT;
use serde_json::{Value, json};

/// A directory that is a marketplace.
pub struct Marketplace {
    pub root: PathBuf,
    name: String,
    offers: Vec<Value>,
}

impl Marketplace {
    pub fn new(root: &Path, name: &str) -> Marketplace {
        let market = Marketplace {
            root: root.to_owned(),
            name: name.to_owned(),
            offers: Vec::new(),
        };
        market.write();
        market
    }

    /// Its file.
    pub fn file(&self) -> PathBuf {
        self.root.join(".agents/plugins/marketplace.json")
    }

    /// Offers a plugin with this manifest and more members of its offer; its directory.
    pub fn offer(&mut self, name: &str, manifest: &Value, more: &Value) -> PathBuf {
        let mut offer = json!({
            "name": name, "source": { "source": "local", "path": format!("./plugins/{name}") },
        });
        for (key, value) in more.as_object().unwrap() {
            offer[key] = value.clone();
        }
        self.offers.push(offer);
        self.write();
        let plugin = self.root.join("plugins").join(name);
        put(&plugin, ".codex-plugin/plugin.json", &manifest.to_string());
        plugin
    }

    /// The params that name a plugin of it.
    pub fn plugin(&self, name: &str) -> Value {
        json!({ "marketplacePath": self.file(), "pluginName": name })
    }

    fn write(&self) {
        let file = json!({ "name": self.name, "plugins": self.offers }).to_string();
        put(&self.root, ".agents/plugins/marketplace.json", &file);
    }
}

/// Writes a file below a directory.
pub fn put(directory: &Path, path: &str, text: &str) {
    let file = directory.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Gives a plugin a skill.
pub fn add_skill(plugin: &Path, name: &str) {
    let text = format!("---\nname: {name}\ndescription: About {name}\n---\nBody of {name}\n");
    put(plugin, &format!("skills/{name}/SKILL.md"), &text);
}

/// Gives a plugin a scripted MCP server.
pub fn add_server(plugin: &Path, name: &str) {
    let program = std::env::current_exe().unwrap();
    let server = json!({ "type": "stdio", "command": program, "args": [ARGUMENT, ""] });
    let file = json!({ "mcpServers": { name: server } }).to_string();
    put(plugin, ".mcp.json", &file);
}

//! The choices of a chaos run: numbers from a seed, and prompts that make the model misbehave.

use serde_json::{Value, json};

/// Numbers that a seed decides (SplitMix64).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % (limit.max(1) as u64)).unwrap_or_default()
    }

    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A prompt that says what the model does when it reads it. Processes that stay carry the mark.
    pub fn prompt(&mut self, number: usize, mark: &str) -> String {
        let steps: Vec<Value> = (0..self.below(4)).map(|_| self.step(mark)).collect();
        let last = match self.below(8) {
            0 => json!({ "fail": 500, "body": { "error": { "message": "broken" } } }),
            1 => json!({ "deltas": 5, "cut": true }),
            2 => json!({ "error": { "code": "server_error", "message": "broken" } }),
            _ => json!({ "text": format!("end {number}") }),
        };
        let script: Vec<Value> = steps.into_iter().chain([last]).collect();
        format!("prompt {number} {}", json!({ "script": script }))
    }

    /// An answer of the model that calls a tool.
    fn step(&mut self, mark: &str) -> Value {
        let call = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
        let command =
            |cmd: String| call("exec_command", json!({ "cmd": cmd, "yield_time_ms": 250 }));
        match self.below(12) {
            0 => command("echo quick".to_owned()),
            1 => command(format!(
                "echo {mark}; (setsid sleep {mark} &) ; sleep {mark}"
            )),
            2 => command(format!("sleep {mark}")),
            3 => command("exit 3".to_owned()),
            4 => command("yes | head -c 300000".to_owned()),
            5 => {
                let name = self.below(1000);
                json!({ "patch": format!("*** Begin Patch\n*** Add File: file-{name}\n+x\n*** End Patch") })
            }
            6 => call(
                "update_plan",
                json!({ "plan": [{ "step": "one", "status": "pending" }] }),
            ),
            7 => call("no_such_tool", json!({})),
            8 => call("exec_command", json!("{ not json")),
            9 => json!({ "reasoning": "Hm.", "deltas": 1 + self.below(60), "calls": [
                { "name": "exec_command", "arguments": { "cmd": "echo one" } },
                { "name": "exec_command", "arguments": { "cmd": "echo two" } },
            ] }),
            10 => call("gate", json!({})),
            _ => {
                let prompt = json!({ "script": [{ "text": "agent" }] }).to_string();
                call("spawn_agent", json!({ "message": prompt }))
            }
        }
    }
}

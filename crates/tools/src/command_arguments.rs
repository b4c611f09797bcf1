//! The arguments that all tools for commands have: where a command runs, and what the user is asked for.

use quipu_policy::permissions::SandboxPermissions;
use quipu_wire::Json;
use serde_json::{Value, json};

use crate::schema::{self, Schema};
use crate::scope::Features;

pub(crate) const WORKDIR: &str =
    "The directory to run it in; the working directory of the turn if left out.";
pub(crate) const SANDBOX_PERMISSIONS: &str =
    "`use_default`, or `require_escalated` to ask the user for a run outside the sandbox.";
/// The same where single permissions can be asked for.
const MORE_PERMISSIONS: &str = "`use_default`; `with_additional_permissions` to ask the user for what \
    `additional_permissions` lists; or `require_escalated` to ask for a run outside the sandbox.";
pub(crate) const JUSTIFICATION: &str =
    "With `require_escalated`: a short question to the user that says why.";
pub(crate) const PREFIX_RULE: &str = "With `require_escalated`: the beginning of the command, word by word, that the \
    user may allow for good.";
pub(crate) const TIMEOUT: &str = "How long it may take; ten seconds if left out.";
pub(crate) const LOGIN: &str =
    "Whether the shell reads the user's profile first. True if left out.";

impl Schema for SandboxPermissions {
    fn schema() -> Value {
        String::schema()
    }
}

/// The schema of a tool for commands, without what is switched off.
pub(crate) fn command_schema<A: Schema + 'static>(features: Features) -> Json {
    let (login, permissions) = (
        features.allow_login_shell,
        features.exec_permission_approvals,
    );
    schema::printed::<A>(format!("{login} {permissions}"), |schema, _| {
        let Some(properties) = schema["properties"].as_object_mut() else {
            return;
        };
        if !login {
            properties.remove("login");
        }
        if permissions {
            properties["sandbox_permissions"]["description"] = json!(MORE_PERMISSIONS);
        } else {
            properties.remove("additional_permissions");
        }
    })
}

/// The arguments of a tool whose command is waited for, its own and the common ones. One struct, because a mistake
/// in a flattened part would be reported without its position.
macro_rules! waited_arguments {
    ($name:ident { $($own:ident: $type:ty),+ $(,)? }
        required { $($required:ident: $must:expr),+ $(,)? }
        optional { $($optional:ident: $may:expr),* $(,)? }
    ) => {
        #[derive(serde::Deserialize)]
        struct $name {
            $($own: $type,)+
            workdir: Option<String>,
            #[serde(alias = "timeout")]
            timeout_ms: Option<u64>,
            #[serde(default)]
            sandbox_permissions: quipu_policy::permissions::SandboxPermissions,
            justification: Option<String>,
            #[serde(default)]
            prefix_rule: Vec<String>,
            additional_permissions: Option<$crate::wanted::Wanted>,
        }

        $crate::schema::describe!($name {
            required { $($required: $must),+ }
            optional {
                $($optional: $may,)*
                workdir: $crate::command_arguments::WORKDIR,
                timeout_ms: $crate::command_arguments::TIMEOUT,
                sandbox_permissions: $crate::command_arguments::SANDBOX_PERMISSIONS,
                justification: $crate::command_arguments::JUSTIFICATION,
                prefix_rule: $crate::command_arguments::PREFIX_RULE,
                additional_permissions,
            }
        });

        impl $name {
            fn split(self) -> ($($type,)+ $crate::run_command::Common) {
                let common = $crate::run_command::Common {
                    workdir: self.workdir,
                    timeout_ms: self.timeout_ms,
                    sandbox_permissions: self.sandbox_permissions,
                    justification: self.justification,
                    prefix_rule: self.prefix_rule,
                    additional_permissions: self.additional_permissions,
                };
                ($(self.$own,)+ common)
            }
        }
    };
}
pub(crate) use waited_arguments;

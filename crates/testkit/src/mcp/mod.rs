//! A scripted MCP server: over the standard streams of a real process, or over real HTTP. What it does is
//! chosen by the tool that is called and by the mode it is started in, and much of it is misbehaviour.

mod http;
mod script;
mod stdio;

pub use http::{HttpOptions, McpHttpServer};
pub use script::PIXEL;
pub use stdio::{ARGUMENT, LOG_VARIABLE, run_if_asked};

/// Makes a test binary able to be the scripted server: put it once at the top of the test's main file.
///
/// Test binaries have no `main` of their own, so this looks at the arguments from the list of functions
/// that the loader calls before `main`.
#[macro_export]
macro_rules! be_mcp_server_in_tests {
    () => {
        #[used]
        #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
        #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
        static BE_MCP_SERVER: extern "C" fn() = {
            extern "C" fn be_mcp_server() {
                $crate::mcp::run_if_asked();
            }
            be_mcp_server
        };
    };
}

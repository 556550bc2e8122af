//! Agent files as a person would write them, with the ports and folders of a run.

use std::path::PathBuf;

/// The general part of an agent file: a server and a client in one process, on loopback, with free ports. What a test is
/// about stands in files of its own beside it.
#[derive(Debug, Clone)]
pub struct AgentFile {
    /// The folder of the agent's data.
    pub data_dir: PathBuf,
    /// Ports of HTTP, RPC and gossip.
    pub ports: [u16; 3],
    /// The level of its log.
    pub log_level: String,
}

impl AgentFile {
    /// The file's text. The client takes its address from `lo`: published ports must exist inside the engine's
    /// network namespace too, and loopback is the one address that does.
    pub fn text(&self) -> String {
        let [http, rpc, serf] = self.ports;
        format!(
            r#"data_dir  = "{data_dir}"
bind_addr = "127.0.0.1"
log_level = "{log_level}"

ports {{
  http = {http}
  rpc  = {rpc}
  serf = {serf}
}}

advertise {{
  http = "127.0.0.1"
  rpc  = "127.0.0.1"
  serf = "127.0.0.1"
}}

server {{
  enabled          = true
  bootstrap_expect = 1
}}

client {{
  enabled           = true
  network_interface = "lo"
}}

plugin "raw_exec" {{
  config {{
    enabled = true
  }}
}}
"#,
            data_dir = self.data_dir.display(),
            log_level = self.log_level,
        )
    }
}

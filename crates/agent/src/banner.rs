//! What an agent prints before its log begins.

use longshore_settings::AgentConfig;

use crate::addresses::Listeners;

/// The level of Nomad's interfaces that clients and operators are told; our own version stands beside it.
pub(crate) const API_LEVEL: &str = "1.6.3";

/// How wide keys are, right-aligned.
const KEY_WIDTH: usize = 18;

pub(crate) fn text(config: &AgentConfig, listeners: &Listeners, node_id: Option<&str>, notes: &[String]) -> String {
    let mut rows = vec![
        ("Advertise Addrs", format!("HTTP: {}", listeners.http.advertise)),
        ("Bind Addrs", format!("HTTP: {}", listeners.http.bind)),
        ("Client", config.client.enabled.to_string()),
        ("Log Level", config.log.level.clone()),
        ("Longshore", env!("CARGO_PKG_VERSION").to_owned()),
        ("Region", format!("{} (DC: {})", config.region, config.datacenter)),
        ("Server", config.server.enabled.to_string()),
        ("Version", API_LEVEL.to_owned()),
    ];
    if let Some(id) = node_id {
        rows.push(("Node Id", id.to_owned()));
    }
    rows.sort_unstable_by_key(|(key, _)| *key);
    let mut text = String::from("==> Longshore agent configuration:\n\n");
    for (key, value) in rows {
        text.push_str(&format!("    {key:>KEY_WIDTH$}: {value}\n"));
    }
    text.push('\n');
    for note in notes {
        text.push_str(&format!("==> {note}\n"));
    }
    text.push_str("==> Longshore agent started! Log data will stream in below:\n");
    text
}

/// Said as a warning when other machines reach the API, which nothing protects yet.
pub(crate) fn open_to_others(listeners: &Listeners) -> Option<String> {
    let bind = listeners.http.bind;
    (!bind.ip().is_loopback()).then(|| {
        format!(
            "the API on {bind} has no TLS and no access control (neither is in this build): whoever reaches it can \
             run tasks on this machine. Let only trusted networks reach it, or keep it to this machine with \
             addresses {{ http = \"127.0.0.1\" }} and advertise {{ http = \"127.0.0.1\" }}"
        )
    })
}

#[cfg(test)]
mod tests {
    use longshore_settings::Inputs;

    use super::*;

    #[test]
    fn reads_like_nomads() {
        let config = AgentConfig::read(&Inputs { dev: true, ..Inputs::default() }).unwrap();
        let listeners = crate::addresses::listeners(&config, &[]).unwrap();
        let notes = ["Docker is not there: raw_exec only".to_owned()];
        let told = text(&config, &listeners, Some("8f1f"), &notes).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(told, @r"
        ==> Longshore agent configuration:

               Advertise Addrs: HTTP: 127.0.0.1:4646
                    Bind Addrs: HTTP: 127.0.0.1:4646
                        Client: true
                     Log Level: DEBUG
                     Longshore: VERSION
                       Node Id: 8f1f
                        Region: global (DC: dc1)
                        Server: true
                       Version: 1.6.3

        ==> Docker is not there: raw_exec only
        ==> Longshore agent started! Log data will stream in below:
        ");
    }
}

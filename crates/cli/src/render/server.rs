use std::collections::BTreeMap;

use longshore_api::AgentMember;

use crate::table::table;
use crate::view::View;

/// What an agent tells of itself, area by area.
pub(crate) fn info(stats: &BTreeMap<String, BTreeMap<String, String>>) -> String {
    let mut lines = Vec::new();
    for (area, rows) in stats {
        lines.push(area.clone());
        lines.extend(rows.iter().map(|(key, value)| format!("  {key} = {value}")));
    }
    lines.join("\n")
}

/// The servers that an agent knows. `leader` is the leader's address.
pub(crate) fn members(view: &View, members: &[AgentMember], leader: &str, detailed: bool) -> String {
    let tag = |member: &AgentMember, key: &str| member.tags.get(key).cloned().unwrap_or_default();
    let address = |member: &AgentMember| member.addr.clone().unwrap_or_default();
    let tags = |member: &AgentMember| {
        member.tags.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
    };
    let rows = |head: &[&str], row: &dyn Fn(&AgentMember) -> Vec<String>| {
        let head = head.iter().map(|word| (*word).to_owned()).collect();
        table(&std::iter::once(head).chain(members.iter().map(row)).collect::<Vec<_>>())
    };
    if detailed {
        return rows(&["Name", "Address", "Port", "Tags"], &|member| {
            vec![member.name.clone(), address(member), member.port.to_string(), tags(member)]
        });
    }
    let mut head = vec!["Name", "Address", "Port", "Status", "Leader", "Raft Version", "Build", "Datacenter", "Region"];
    if view.verbose {
        head.extend(["Protocol", "Tags"]);
    }
    rows(&head, &|member| {
        let leads = format!("{}:{}", tag(member, "rpc_addr"), tag(member, "port")) == leader;
        let mut row = vec![
            member.name.clone(),
            address(member),
            member.port.to_string(),
            member.status.clone(),
            leads.to_string(),
            tag(member, "raft_vsn"),
            tag(member, "build"),
            tag(member, "dc"),
            tag(member, "region"),
        ];
        if view.verbose {
            row.extend([member.protocol_cur.to_string(), tags(member)]);
        }
        row
    })
}

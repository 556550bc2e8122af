//! `agent-info` and `server members`.

use longshore_api::{AgentSelf, ServerMembers};

use crate::commands::{Context, Outcome};
use crate::failure::While;
use crate::render::server;

pub(super) async fn agent_info(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let doing = "Error querying agent info";
    let value = context.client.get_value("/v1/agent/self", &[]).await.doing(doing)?;
    context.show(value, doing, |_, own: AgentSelf| server::info(&own.stats))
}

pub(super) async fn members(context: &mut Context) -> Outcome {
    context.no_arguments()?;
    let doing = "Error querying servers";
    let value = context.client.get_value("/v1/agent/members", &[]).await.doing(doing)?;
    let leader: String = context.client.get("/v1/status/leader", &[]).await.doing("Error determining leaders")?;
    let detailed = context.given.switch("detailed");
    context
        .show(value, doing, |view, members: ServerMembers| server::members(view, &members.members, &leader, detailed))
}

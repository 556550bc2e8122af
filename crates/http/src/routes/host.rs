//! How the machine of this node is doing.

use axum::response::Response;
use longshore_api as api;
use longshore_client::{DiskStats, HostStats};
use longshore_model::NodeId;

use crate::context::Ask;
use crate::error::{ApiError, Result};
use crate::prefix::full_id;
use crate::reply;

/// `GET /v1/client/stats`.
pub(crate) async fn stats(ask: Ask) -> Result<Response> {
    let asked = ask.params.text("node_id");
    match &ask.context.client {
        Some(client) if asked.is_empty() || client.node_id().to_string() == asked => {
            let stats = client.stats().await.ok_or_else(|| ApiError::server("the look at the machine ended early"))?;
            reply::json(&ask.params, &shown(&stats, client.node().resources.cpu_mhz))
        }
        None if asked.is_empty() => Err(ApiError::bad_request("No local Node and node_id not provided")),
        _ => {
            let id: NodeId = full_id("node", asked)?;
            Err(match ask.context.server.snapshot().node(id) {
                Some(_) => ApiError::not_found("No path to node"),
                None => ApiError::not_found(format!("Unknown node {asked:?}")),
            })
        }
    }
}

fn disk(stats: &DiskStats) -> api::HostDiskStats {
    api::HostDiskStats {
        device: stats.device.clone(),
        mountpoint: stats.mount_point.clone(),
        size: stats.size,
        used: stats.used,
        available: stats.available,
        used_percent: stats.used_percent,
        inodes_used_percent: stats.inodes_used_percent,
    }
}

/// `mhz` is what all processors together have.
fn shown(stats: &HostStats, mhz: i64) -> api::HostStats {
    let mhz_of_one = mhz as f64 / stats.cpus.len().max(1) as f64;
    let one = |cpu: &longshore_client::CpuStats| {
        let busy = (100.0 - cpu.idle).max(0.0);
        api::HostCpuStats {
            cpu: cpu.name.clone(),
            user: cpu.user,
            system: cpu.system,
            idle: cpu.idle,
            total: busy,
            total_percent: busy,
            total_ticks: busy / 100.0 * mhz_of_one,
        }
    };
    let cpu: Vec<_> = stats.cpus.iter().map(one).collect();
    api::HostStats {
        memory: Some(api::HostMemoryStats {
            total: stats.memory.total,
            available: stats.memory.available,
            used: stats.memory.used,
            free: stats.memory.free,
        }),
        cpu_ticks_consumed: cpu.iter().map(|one| one.total_ticks).sum(),
        cpu,
        disk_stats: stats.disks.iter().map(disk).collect(),
        alloc_dir_stats: Some(disk(&stats.alloc_dir)),
        device_stats: Vec::new(),
        uptime: stats.uptime_seconds,
        timestamp: stats.at.as_nanoseconds(),
    }
}

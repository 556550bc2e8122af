use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore_api::{GoTime, MetricsSummary};
use tracing::debug;

use super::images::keeper;
use crate::context::Ask;
use crate::error::{ApiError, Result, with_causes};
use crate::gauges::{Gauges, prometheus};
use crate::reply;

/// The interval that Nomad sums up over; times are cut to it.
const INTERVAL_S: u64 = 10;

/// `GET /v1/metrics`.
pub(crate) async fn metrics(ask: Ask) -> Result<Response> {
    let context = &ask.context;
    let as_prometheus = ask.params.text("format") == "prometheus";
    if as_prometheus && !context.agent.prometheus_metrics {
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Prometheus is not enabled"));
    }
    let state = context.server.snapshot();
    let mut gauges = Gauges::default();
    gauges.of_server(&state);
    gauges.of_evaluations(context.server.evaluation_counts());
    if let Some(client) = &context.client {
        gauges.of_node(&state, client.node_id());
    }
    if let Some(images) = keeper(context) {
        match images.list().await {
            Ok(images) => {
                gauges.of_images(&images);
                gauges.of_holders(&images);
            }
            Err(error) => debug!(error = %with_causes(&error), "no image metrics"),
        }
        match images.counts().await {
            Ok(counts) => gauges.of_image_counts(&counts),
            Err(error) => debug!(error = %with_causes(&error), "no counts of images"),
        }
        match images.room().await {
            Ok(room) => gauges.of_image_room(room.as_ref()),
            Err(error) => debug!(error = %with_causes(&error), "no measure of the room for images"),
        }
    }
    let gauges = gauges.into_values();
    if as_prometheus {
        let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        return Ok(([(header::CONTENT_TYPE, content_type)], prometheus(&gauges)).into_response());
    }
    let summary = MetricsSummary { timestamp: interval_start(), gauges, ..MetricsSummary::default() };
    reply::json(&ask.params, &summary)
}

/// As Go prints a time: `2006-01-02 15:04:05 +0000 UTC`.
fn interval_start() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let cut = i64::try_from(seconds / INTERVAL_S * INTERVAL_S).unwrap_or_default();
    let time = GoTime::from_nanoseconds(cut.saturating_mul(1_000_000_000)).to_string();
    time.replace('T', " ").replace('Z', " +0000 UTC")
}

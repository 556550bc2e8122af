use axum::response::Response;
use longshore_model::LogIndex;
use longshore_state::{State, Table};

use crate::context::Ask;
use crate::error::Result;
use crate::page::{self, Page};
use crate::show::job;

/// `GET /v1/jobs`.
pub(crate) async fn list(ask: Ask) -> Result<Response> {
    let page = Page::of(&ask.params)?;
    let with_meta = ask.params.flag("meta")?.unwrap_or(false);
    let prefix = ask.params.text("prefix");
    let state = ask.context.state(&ask.options, TABLES_OF_LIST, index_of_list).await;
    let found = state
        .jobs()
        .filter(|job| ask.options.namespace.takes(&job.key.namespace))
        .filter(|job| job.key.id.starts_with(prefix));
    let (found, next) = page.cut(found, |job| job.key.clone())?;
    let shown: Vec<_> = found.into_iter().map(|job| job::stub(job, state.summary(&job.key), with_meta)).collect();
    page::answer(&ask.params, &shown, next, index_of_list(&state))
}

/// Lists of jobs carry their summaries, which allocations and evaluations move.
const TABLES_OF_LIST: &[Table] = &[Table::Jobs, Table::Evaluations, Table::Allocations];

fn index_of_list(state: &State) -> LogIndex {
    TABLES_OF_LIST.iter().map(|table| state.table_index(*table)).max().unwrap_or_default()
}

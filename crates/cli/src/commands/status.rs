use longshore_api::{SearchRequest, SearchResponse};

use crate::commands::{Context, Outcome, alloc_status, deployment, eval_status, job_status, node_status};
use crate::failure::{Failure, While};

/// Looks an id up wherever it may be, and shows what it means.
pub(super) async fn run(context: &mut Context) -> Outcome {
    let id = match context.given.arguments.as_slice() {
        [] => return job_status::list(context).await,
        [id] => id.clone(),
        _ => return Err(Failure::usage("This command takes either no arguments or one: <id>")),
    };
    let request = SearchRequest { prefix: id.clone(), context: "all".to_owned() };
    let doing = "Error querying search with ID";
    let found: SearchResponse = context.client.put("/v1/search", &[], &request).await.doing(doing)?;
    let matches: Vec<(String, Vec<String>)> =
        found.matches.into_iter().filter_map(|(kind, ids)| Some((kind, ids.filter(|ids| !ids.is_empty())?))).collect();
    match chosen(&matches, &id)?.as_str() {
        "jobs" => job_status::one(context, &id).await,
        "allocs" => alloc_status::one(context, &id, false, None).await,
        "evals" => eval_status::one(context, &id).await,
        "nodes" => node_status::one(context, &id).await,
        "deployment" | "deployments" => deployment::one(context, &id).await,
        other => Err(Failure::told(format!("Unable to show {other}: {id:?}"))),
    }
}

/// The one kind of thing that is meant; a job of exactly that id goes before everything.
fn chosen(matches: &[(String, Vec<String>)], id: &str) -> Result<String, Failure> {
    if matches.iter().any(|(kind, ids)| kind == "jobs" && ids.iter().any(|found| found == id)) {
        return Ok("jobs".to_owned());
    }
    match matches {
        [] => Err(Failure::told(format!("Unable to resolve ID: {id:?}"))),
        [(kind, ids)] if ids.len() == 1 => Ok(kind.clone()),
        _ => {
            let lists: Vec<String> =
                matches.iter().map(|(kind, ids)| format!("{}:\n{}", title(kind), ids.join(", "))).collect();
            Err(Failure::told(format!("Multiple matches found for id {id:?}\n\n{}", lists.join("\n\n"))))
        }
    }
}

fn title(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(matches: &[(&str, &[&str])], expected: &str) {
        let matches: Vec<(String, Vec<String>)> = matches
            .iter()
            .map(|(kind, ids)| ((*kind).to_owned(), ids.iter().map(|id| (*id).to_owned()).collect()))
            .collect();
        assert_eq!(chosen(&matches, "shop").unwrap_or_else(|why| why.to_string()), expected);
    }

    #[test]
    fn the_thing_that_is_meant() {
        check(&[], "Unable to resolve ID: \"shop\"");
        check(&[("allocs", &["shop1"])], "allocs");
        check(&[("jobs", &["shop", "shop-api"]), ("allocs", &["shop1"])], "jobs");
        check(
            &[("jobs", &["shop-api", "shop-web"])],
            "Multiple matches found for id \"shop\"\n\nJobs:\nshop-api, shop-web",
        );
    }
}

//! What this build answers. Names in braces stand for one segment; `{job}` may hold slashes.

/// What a request asks to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    /// `PUT` and `POST` are one.
    Write,
    Delete,
}

/// One promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
}

const fn get(path: &'static str) -> Route {
    Route { method: Method::Get, path }
}

const fn write(path: &'static str) -> Route {
    Route { method: Method::Write, path }
}

const fn delete(path: &'static str) -> Route {
    Route { method: Method::Delete, path }
}

/// Every route of this build.
pub const ROUTES: &[Route] = &[
    get("/v1/jobs"),
    write("/v1/jobs"),
    write("/v1/jobs/parse"),
    write("/v1/validate/job"),
    get("/v1/job/{job}"),
    write("/v1/job/{job}"),
    delete("/v1/job/{job}"),
    get("/v1/job/{job}/allocations"),
    get("/v1/job/{job}/evaluations"),
    get("/v1/job/{job}/deployments"),
    get("/v1/job/{job}/deployment"),
    get("/v1/job/{job}/versions"),
    get("/v1/job/{job}/summary"),
    write("/v1/job/{job}/plan"),
    write("/v1/job/{job}/evaluate"),
    write("/v1/job/{job}/revert"),
    write("/v1/job/{job}/stable"),
    get("/v1/evaluations"),
    get("/v1/evaluation/{eval}"),
    get("/v1/evaluation/{eval}/allocations"),
    get("/v1/allocations"),
    get("/v1/allocation/{alloc}"),
    write("/v1/allocation/{alloc}/stop"),
    get("/v1/deployments"),
    get("/v1/deployment/{deployment}"),
    get("/v1/deployment/allocations/{deployment}"),
    write("/v1/deployment/fail/{deployment}"),
    write("/v1/deployment/pause/{deployment}"),
    write("/v1/deployment/promote/{deployment}"),
    write("/v1/deployment/allocation-health/{deployment}"),
    get("/v1/nodes"),
    get("/v1/node/{node}"),
    get("/v1/node/{node}/allocations"),
    write("/v1/node/{node}/eligibility"),
    write("/v1/node/{node}/evaluate"),
    write("/v1/node/{node}/purge"),
    get("/v1/client/fs/logs/{alloc}"),
    get("/v1/client/fs/ls/{alloc}"),
    get("/v1/client/fs/stat/{alloc}"),
    get("/v1/client/fs/cat/{alloc}"),
    get("/v1/client/fs/readat/{alloc}"),
    get("/v1/client/fs/stream/{alloc}"),
    get("/v1/client/allocation/{alloc}/stats"),
    get("/v1/client/allocation/{alloc}/exec"),
    write("/v1/client/allocation/{alloc}/restart"),
    write("/v1/client/allocation/{alloc}/signal"),
    get("/v1/client/stats"),
    get("/v1/client/images"),
    get("/v1/client/image/{name}"),
    get("/v1/client/images/pins"),
    write("/v1/client/images/pin"),
    write("/v1/client/images/unpin"),
    write("/v1/client/images/adopt"),
    write("/v1/client/images/pause"),
    write("/v1/client/images/gc"),
    write("/v1/client/images/pull"),
    get("/v1/agent/self"),
    get("/v1/agent/health"),
    get("/v1/agent/members"),
    get("/v1/status/leader"),
    get("/v1/status/peers"),
    get("/v1/regions"),
    get("/v1/namespaces"),
    get("/v1/namespace/{namespace}"),
    get("/v1/metrics"),
    write("/v1/system/gc"),
    write("/v1/search"),
];

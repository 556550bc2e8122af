//! Nomad's JSON as Rust types, and the list of routes: what clients are promised.
//!
//! Names on the wire are exactly Nomad's; each type says only what its fields' names do not. Conventions:
//!
//! 1. Read JSON with [`decode`], which understands what Go's decoder does (names in any case, `null` as absent).
//! 2. Absent lists and maps inside of objects are written as `null`; lists at the top are never `null`.
//! 3. Durations are nanoseconds, zero times `null`, ids and statuses texts in Nomad's words.
//! 4. [`Evaluation`] and [`Allocation`] leave out fields with zero values; everything else has all its fields.

mod access;
mod agent;
mod allocated;
mod allocation;
mod connect;
mod decode;
mod deployment;
mod diff;
mod empty;
mod evaluation;
mod exec;
mod group;
mod images;
mod job;
mod job_read;
mod job_write;
mod logs;
mod metric;
mod metrics;
mod node;
mod node_resources;
mod placement;
mod resources;
mod routes;
mod search;
mod service;
mod task;
mod task_state;
mod time;
mod volume;

pub use access::{
    AllocFileInfo, AllocResourceUsage, AllocRestartRequest, AllocSignalRequest, GenericResponse, ResourceUsage,
    TaskCpuStats, TaskMemoryStats, TaskResourceUsage,
};
pub use agent::{AgentHealth, AgentHealthResponse, AgentMember, AgentSelf, Namespace, ServerMembers};
pub use allocated::{
    AllocatedCpuResources, AllocatedDeviceResource, AllocatedMemoryResources, AllocatedPortMapping, AllocatedResources,
    AllocatedSharedResources, AllocatedTaskResources,
};
pub use allocation::{
    AllocDeploymentStatus, AllocListStub, AllocNetworkStatus, AllocState, AllocStopResponse, Allocation,
    DesiredTransition, RescheduleEvent, RescheduleTracker,
};
pub use connect::{
    ConsulConnect, ConsulExposeConfig, ConsulExposePath, ConsulGateway, ConsulGatewayBindAddress, ConsulGatewayProxy,
    ConsulGatewayTlsConfig, ConsulIngressConfigEntry, ConsulIngressListener, ConsulIngressService, ConsulLinkedService,
    ConsulMeshConfigEntry, ConsulMeshGateway, ConsulProxy, ConsulSidecarService, ConsulTerminatingConfigEntry,
    ConsulTransparentProxy, ConsulUpstream, SidecarTask,
};
pub use decode::{DecodeError, Fault, decode, from_value};
pub use deployment::{
    Deployment, DeploymentAllocHealthRequest, DeploymentFailRequest, DeploymentPauseRequest, DeploymentPromoteRequest,
    DeploymentState, DeploymentUpdateResponse,
};
pub use diff::{FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff};
pub use evaluation::{Evaluation, EvaluationStub};
pub use exec::{
    ExecHandshake, ExecStreamingData, ExecStreamingInput, ExecStreamingOutput, ExecStreamingResult, TerminalSize,
};
pub use group::{
    Consul, DisconnectStrategy, EphemeralDisk, MigrateStrategy, ReschedulePolicy, RestartPolicy, ScalingPolicy,
    TaskGroup, UpdateStrategy,
};
pub use images::{
    ImageAdoptRequest, ImageAdoptResponse, ImageAdopted, ImageCollectRequest, ImageCollectResponse, ImageCollected,
    ImageExplain, ImageHolder, ImagePause, ImagePauseRequest, ImagePin, ImagePinRequest, ImagePullRequest, ImagePulled,
    ImageStatus, ImagesResponse,
};
pub use job::{
    Job, JobUi, JobUiLink, Multiregion, MultiregionRegion, MultiregionStrategy, ParameterizedJobConfig, PeriodicConfig,
};
pub use job_read::{JobChildrenSummary, JobListStub, JobSummary, JobVersionsResponse, TaskGroupSummary};
pub use job_write::{
    DesiredUpdates, EvalOptions, IndexResponse, JobDeregisterResponse, JobEvaluateRequest, JobFault, JobPlanRequest,
    JobPlanResponse, JobRefusal, JobRegisterRequest, JobRegisterResponse, JobRevertRequest, JobStabilityRequest,
    JobSubmission, JobValidateRequest, JobValidateResponse, JobsParseRequest, PlanAnnotations,
};
pub use logs::StreamFrame;
pub use metric::{AllocMetric, NodeScoreMeta};
pub use metrics::{GaugeValue, MetricsSummary, PointValue, SampledValue};
pub use node::{
    ClientHostNetworkConfig, ClientHostVolumeConfig, DrainMetadata, DrainStrategy, DriverInfo, Node,
    NodeEligibilityRequest, NodeEligibilityResponse, NodeEvent, NodeListStub, NodeUpdateResponse,
};
pub use node_resources::{
    HostCpuStats, HostDiskStats, HostMemoryStats, HostStats, NodeCpuResources, NodeDevice, NodeDeviceLocality,
    NodeDeviceResource, NodeDiskResources, NodeMemoryResources, NodeNetworkAddress, NodeNetworkResource,
    NodeReservedCpuResources, NodeReservedDiskResources, NodeReservedMemoryResources, NodeReservedNetworkResources,
    NodeReservedResources, NodeResources,
};
pub use placement::{Affinity, Constraint, Spread, SpreadTarget};
pub use resources::{CniConfig, DnsConfig, NetworkResource, Numa, Port, RequestedDevice, Resources};
pub use routes::{Method, ROUTES, Route};
pub use search::{SearchRequest, SearchResponse};
pub use service::{CheckRestart, Service, ServiceCheck, ServiceWeights};
pub use task::{
    Action, ChangeScript, DispatchPayloadConfig, LogConfig, Task, TaskArtifact, TaskCsiPluginConfig, TaskLifecycle,
    TaskSchedule, TaskScheduleCron, TaskSecret, Template, Vault, WaitConfig, WorkloadIdentity,
};
pub use task_state::{TaskEvent, TaskHandle, TaskState};
pub use time::GoTime;
pub use volume::{CsiMountOptions, VolumeMount, VolumeRequest};

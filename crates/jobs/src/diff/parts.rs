//! Which parts of a job are blocks, how two versions of a block find each other, and what each is called.
//!
//! What no table names is told as a field, so that a key which a later version adds is never passed over.

/// A block within another.
#[derive(Debug)]
pub(super) struct Part {
    /// What the API calls it.
    pub(super) key: &'static str,
    /// What differences call it.
    pub(super) name: &'static str,
    pub(super) how: How,
    /// Keys that are never told: filled in by servers, or told elsewhere.
    pub(super) hidden: &'static [&'static str],
    pub(super) parts: &'static [Part],
}

/// How the two versions of a block find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// There is at most one.
    One,
    /// There is at most one; its coming and going is told with what it belongs to.
    OneWhenEdited,
    /// A list of blocks that only their content tells apart: each one comes or goes whole.
    Set,
    /// A list of blocks; those with the same value of this key are versions of one block.
    Named(&'static str),
    /// Blocks by label.
    Labelled,
    /// A list of texts whose order says nothing: each one comes or goes.
    Texts,
    /// Names and values of the job's owner.
    Values,
}

const fn part(key: &'static str, name: &'static str, how: How) -> Part {
    Part { key, name, how, hidden: &[], parts: &[] }
}

/// A block of which there is at most one, called as the API calls it.
const fn one(key: &'static str) -> Part {
    part(key, key, How::One)
}

const fn texts(key: &'static str) -> Part {
    part(key, key, How::Texts)
}

const fn values(key: &'static str, name: &'static str) -> Part {
    part(key, name, How::Values)
}

impl Part {
    const fn with(self, parts: &'static [Part]) -> Self {
        Self { parts, ..self }
    }

    const fn without(self, hidden: &'static [&'static str]) -> Self {
        Self { hidden, ..self }
    }
}

/// A job but for its groups.
pub(super) static JOB: Part = one("Job")
    .without(&[
        "ID",
        "Status",
        "StatusDescription",
        "Version",
        "Stable",
        "SubmitTime",
        "CreateIndex",
        "ModifyIndex",
        "JobModifyIndex",
        "ConsulToken",
        "VaultToken",
        "NomadTokenID",
        "Payload",
        // Told with the groups that they hold for.
        "TaskGroups",
        "Update",
        "Reschedule",
        "Migrate",
    ])
    .with(&[
        texts("Datacenters"),
        CONSTRAINTS,
        AFFINITIES,
        SPREADS,
        one("Periodic"),
        one("ParameterizedJob").with(&[texts("MetaRequired"), texts("MetaOptional")]),
        one("Multiregion")
            .with(&[one("Strategy"), part("Regions", "Region", How::Named("Name")).with(&[texts("Datacenters")])]),
        one("UI").with(&[part("Links", "Link", How::Named("Label"))]),
    ]);

/// A group but for its tasks.
pub(super) static GROUP: Part = one("TaskGroup").without(&["Name", "Tasks"]).with(&[
    CONSTRAINTS,
    AFFINITIES,
    one("RestartPolicy"),
    one("ReschedulePolicy"),
    one("EphemeralDisk"),
    SPREADS,
    one("Update").without(&["Stagger"]),
    part("Migrate", "Migrate", How::OneWhenEdited),
    one("Disconnect"),
    part("Networks", "Network", How::Set).without(NOT_OF_NETWORK).with(NETWORK),
    part("Services", "Service", How::Named("Name")).without(&["CheckRestart"]).with(SERVICE),
    part("Volumes", "Volume", How::Labelled).with(&[one("MountOptions").with(&[texts("MountFlags")])]),
    one("Consul"),
    one("Scaling").without(OF_SERVER).with(&[values("Policy", "Policy")]),
]);

pub(super) static TASK: Part = one("Task").without(&["Name"]).with(&[
    CONSTRAINTS,
    AFFINITIES,
    values("Config", "Config"),
    RESOURCES,
    one("Lifecycle"),
    LOGS,
    one("RestartPolicy"),
    one("DispatchPayload"),
    part("Artifacts", "Artifact", How::Named("GetterSource")),
    part("Templates", "Template", How::Named("DestPath")).with(&[one("ChangeScript"), one("Wait")]),
    one("Vault").with(&[texts("Policies")]),
    VOLUME_MOUNTS,
    part("CSIPluginConfig", "CSIPlugin", How::One),
    part("ScalingPolicies", "Scaling", How::Named("Type")).without(OF_SERVER).with(&[values("Policy", "Policy")]),
    one("Identity"),
    part("Identities", "Identity", How::Named("Name")),
    part("Actions", "Action", How::Named("Name")),
    one("Consul"),
    one("Schedule").with(&[one("Cron")]),
    part("Secrets", "Secret", How::Named("Name")),
    part("Services", "Service", How::Named("Name")).without(&["CheckRestart"]).with(SERVICE),
]);

const OF_SERVER: &[&str] = &["ID", "Target", "CreateIndex", "ModifyIndex"];

const CONSTRAINTS: Part = part("Constraints", "Constraint", How::Set);

const AFFINITIES: Part = part("Affinities", "Affinity", How::Set);

const SPREADS: Part = part("Spreads", "Spread", How::Set).with(&[part("SpreadTarget", "SpreadTarget", How::Set)]);

const LOGS: Part = one("LogConfig").without(&["Enabled"]);

const VOLUME_MOUNTS: Part = part("VolumeMounts", "VolumeMount", How::Named("Destination"));

const NOT_OF_NETWORK: &[&str] = &["Device", "CIDR", "IP"];

const NETWORK: &[Part] = &[
    part("ReservedPorts", "Static Port", How::Set),
    part("DynamicPorts", "Dynamic Port", How::Set).without(&["Value"]),
    one("DNS"),
    one("CNI"),
];

const RESOURCES: Part = one("Resources").with(&[
    part("Networks", "Network", How::Set).without(NOT_OF_NETWORK).with(NETWORK),
    part("Devices", "Device", How::Named("Name")).with(&[CONSTRAINTS, AFFINITIES]),
    one("NUMA").with(&[texts("Devices")]),
]);

const SERVICE: &[Part] = &[
    texts("CanaryTags"),
    texts("Tags"),
    part("Checks", "Check", How::Named("Name")).with(&[one("CheckRestart"), values("Header", "Header")]),
    part("Connect", "ConsulConnect", How::One).with(CONNECT),
    one("Weights"),
    one("Identity"),
];

const CONNECT: &[Part] = &[
    one("SidecarService").with(&[
        texts("Tags"),
        part("Proxy", "ConsulProxy", How::One).with(&[
            part("Upstreams", "ConsulUpstreams", How::Named("DestinationName"))
                .with(&[one("MeshGateway"), values("Config", "Config")]),
            one("Expose").with(&[part("Paths", "Path", How::Named("Path"))]),
            one("TransparentProxy"),
            values("Config", "Config"),
        ]),
    ]),
    one("SidecarTask").with(&[RESOURCES, LOGS, values("Config", "Config"), VOLUME_MOUNTS]),
    one("Gateway").with(&[
        one("Proxy").with(&[
            part("EnvoyGatewayBindAddresses", "EnvoyGatewayBindAddresses", How::Labelled),
            values("Config", "Config"),
        ]),
        one("Ingress").with(&[
            one("TLS"),
            part("Listeners", "Listener", How::Named("Port")).with(&[part(
                "Services",
                "ConsulIngressService",
                How::Named("Name"),
            )
            .with(&[texts("Hosts")])]),
        ]),
        one("Terminating").with(&[part("Services", "ConsulLinkedService", How::Named("Name"))]),
        one("Mesh"),
    ]),
];

use longshore_model::{AllocatedGroup, Resources};
use serde::{Deserialize, Serialize};

/// What the allocations of a node take, kept current by `apply`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeUse {
    pub cpu_mhz: i64,
    pub memory_mb: i64,
    pub disk_mb: i64,
    pub allocations: u32,
    /// Sorted; a number stands once for each allocation that has it.
    ports: Vec<u16>,
}

impl NodeUse {
    pub fn add(&mut self, given: &AllocatedGroup) {
        let total = given.total();
        self.cpu_mhz += total.cpu_mhz;
        self.memory_mb += total.memory_mb;
        self.disk_mb += total.disk_mb;
        self.allocations += 1;
        for port in &given.ports {
            let at = self.ports.partition_point(|known| *known < port.value);
            self.ports.insert(at, port.value);
        }
    }

    pub fn remove(&mut self, given: &AllocatedGroup) {
        let total = given.total();
        self.cpu_mhz -= total.cpu_mhz;
        self.memory_mb -= total.memory_mb;
        self.disk_mb -= total.disk_mb;
        self.allocations = self.allocations.saturating_sub(1);
        for port in &given.ports {
            if let Ok(at) = self.ports.binary_search(&port.value) {
                self.ports.remove(at);
            }
        }
    }

    pub fn has_port(&self, port: u16) -> bool {
        self.ports.binary_search(&port).is_ok()
    }

    /// Sorted; a number stands once for each allocation that has it.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// The dimension that `ask` beyond this use would exhaust, in Nomad's word, or `None` when it fits.
    pub fn exhausted_by(&self, ask: Resources, available: Resources) -> Option<&'static str> {
        if self.cpu_mhz + ask.cpu_mhz > available.cpu_mhz {
            Some("cpu")
        } else if self.memory_mb + ask.memory_mb > available.memory_mb {
            Some("memory")
        } else if self.disk_mb + ask.disk_mb > available.disk_mb {
            Some("disk")
        } else {
            None
        }
    }
}

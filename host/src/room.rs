//! How much an instance may take, and how much it took.

use wasmtime::{ResourceLimiter, StoreLimits};

/// An instance that grew beyond this, in bytes, is given up after its call: a guest gives no memory
/// back, and blocks for one large input are of no use for the next, which is larger or smaller.
const SWOLLEN: usize = 16 << 20;

/// The limits of an instance, and the size of its memory.
pub(crate) struct Room {
    limits: StoreLimits,
    memory: usize,
}

impl Room {
    pub(crate) fn new(limits: StoreLimits) -> Self {
        Self { limits, memory: 0 }
    }

    /// Whether it is better to go on with a new instance.
    pub(crate) fn is_swollen(&self) -> bool {
        self.memory > SWOLLEN
    }
}

impl ResourceLimiter for Room {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let granted = self.limits.memory_growing(current, desired, maximum)?;
        if granted {
            self.memory = self.memory.max(desired);
        }
        Ok(granted)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.limits.memory_grow_failed(error)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.limits.table_growing(current, desired, maximum)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.limits.table_grow_failed(error)
    }

    fn instances(&self) -> usize {
        self.limits.instances()
    }

    fn tables(&self) -> usize {
        self.limits.tables()
    }

    fn memories(&self) -> usize {
        self.limits.memories()
    }
}

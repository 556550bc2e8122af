//! The counters of edges that the compiler puts into every function of a build with `sanitizer-coverage-inline-8bit-counters`.
//! In other builds there are none.
#![allow(unsafe_code, reason = "the counters are the compiler's, and known by address alone")]

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counters of each part of the program.
static PARTS: Mutex<Vec<&'static [AtomicU8]>> = Mutex::new(Vec::new());

/// Called by each part of the program before `main`.
///
/// # Safety
/// `start..stop` are counters of one byte each that live as long as the program, as the compiler makes them.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *const AtomicU8, stop: *const AtomicU8) {
    let count = (stop as usize).saturating_sub(start as usize);
    if start.is_null() || count == 0 {
        return;
    }
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    // Parts in one object file have one and the same list, and each of them tells it.
    if parts.iter().any(|part| part.as_ptr() == start) {
        return;
    }
    // SAFETY: the caller's promise. The program writes to them without atomics, on the one thread that is looked at.
    parts.push(unsafe { std::slice::from_raw_parts(start, count) });
}

/// Called by builds that list the addresses of edges too; nothing here needs them.
///
/// # Safety
/// None is needed.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_cov_pcs_init(_start: *const usize, _stop: *const usize) {}

/// Which edges were taken, and roughly how often.
pub(crate) struct Edges {
    parts: Vec<&'static [AtomicU8]>,
    /// For each edge the classes of counts that were seen, one bit each.
    seen: Vec<u8>,
}

impl Edges {
    pub(crate) fn new() -> Self {
        let parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let count = parts.iter().map(|part| part.len()).sum();
        Self { parts, seen: vec![0; count] }
    }

    fn counters(&self) -> impl Iterator<Item = &'static AtomicU8> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// Before a text.
    pub(crate) fn forget(&self) {
        self.counters().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    /// After it: whether it took an edge, or took one so often, that none did before.
    pub(crate) fn look(&mut self) -> bool {
        let mut is_new = false;
        for (counter, seen) in self.parts.iter().flat_map(|part| part.iter()).zip(&mut self.seen) {
            let class = match counter.load(Ordering::Relaxed) {
                0 => 0,
                1 => 1,
                2 => 2,
                3 => 4,
                4..=7 => 8,
                8..=15 => 16,
                16..=31 => 32,
                32..=127 => 64,
                128..=255 => 128,
            };
            is_new |= class & !*seen != 0;
            *seen |= class;
        }
        is_new
    }

    /// How many edges were ever taken; `None` in a build without counters.
    pub(crate) fn covered(&self) -> Option<usize> {
        (!self.seen.is_empty()).then(|| self.seen.iter().filter(|seen| **seen != 0).count())
    }

    /// How many edges the program has.
    pub(crate) fn count() -> usize {
        PARTS.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|part| part.len()).sum()
    }
}

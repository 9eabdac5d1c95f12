//! Where the program calls collectives (`COLLIE_SITES`): the innermost return address on the stack that is neither this
//! library's nor the MPI library's, whose bindings for Fortran and C++ lie between. The functions and lines that these
//! stand for are looked up when the report is made, once for all ranks.

use crate::call::hooks;
use crate::monitor::{Function, SiteRecord};
use crate::process::modules::{self, Module};
use crate::process::runtime::Runtime;
use crate::process::stack;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Most sites of a rank; calls from further ones are in none.
const MOST: usize = 1 << 12;

static SITES: Sites = Sites(Mutex::new(None));

/// What is known of them, once that is wanted.
struct Sites(Mutex<Option<Known>>);

struct Known {
    /// This library, and those of MPI.
    passed_over: Vec<Module>,
    sites: HashMap<(usize, Function), Site>,
}

/// The calls of one function from one place.
#[derive(Clone, Copy, Default)]
struct Site {
    calls: u64,
    bytes: u64,
    ticks: u64,
    longest: u64,
}

/// Keeps from now on where the program calls from.
pub fn start() {
    let own = start as *const () as usize;
    let is_mpi = |module: &Module| {
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        ["libmpi", "libpmpi", "libopen-", "libfmpi"].iter().any(|beginning| name.starts_with(beginning))
    };
    let passed_over = modules::all().into_iter().filter(|module| module.holds(own) || is_mpi(module)).collect();
    *SITES.0.lock() = Some(Known { passed_over, sites: HashMap::new() });
    hooks::set_sites(&SITES);
}

impl hooks::Sites for Sites {
    fn count(&self, function: Function, bytes: u64, ticks: u64) {
        let mut known = self.0.lock();
        let Some(Known { passed_over, sites }) = &mut *known else { return };
        let mut place = 0;
        stack::walk(&mut |instruction| {
            let is_passed_over = passed_over.iter().any(|module| module.holds(instruction));
            if !is_passed_over {
                place = instruction;
            }
            !is_passed_over
        });
        if sites.len() >= MOST && !sites.contains_key(&(place, function)) {
            return;
        }
        let site = sites.entry((place, function)).or_default();
        site.calls += 1;
        site.bytes = site.bytes.wrapping_add(bytes);
        site.ticks += ticks;
        site.longest = site.longest.max(ticks);
    }
}

/// Forgets what was kept.
pub fn reset() {
    if let Some(known) = &mut *SITES.0.lock() {
        known.sites.clear();
    }
}

/// What was kept, for this rank's record.
pub fn records(runtime: &Runtime) -> Vec<SiteRecord> {
    let known = SITES.0.lock();
    let Some(Known { sites, .. }) = &*known else { return Vec::new() };
    let modules = modules::all();
    let record = |(&(place, function), site): (&(usize, Function), &Site)| {
        // The call is before the place that it returns to, and may end its function.
        let module = modules.iter().find(|module| module.holds(place.saturating_sub(1)));
        SiteRecord {
            module: module.map_or_else(String::new, |module| module.path.to_string_lossy().into_owned()),
            address: place.wrapping_sub(module.map_or(0, |module| module.base)) as u64,
            function,
            calls: site.calls,
            bytes: site.bytes,
            total_ns: runtime.nanoseconds(site.ticks),
            max_ns: runtime.nanoseconds(site.longest),
        }
    };
    sites.iter().map(record).collect()
}

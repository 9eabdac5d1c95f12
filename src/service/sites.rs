//! Where the program calls collectives (`COLLIE_SITES`): the innermost return address on the stack that is neither this
//! library's nor the MPI library's, whose bindings for Fortran and C++ lie between. The functions and lines that these
//! stand for are looked up when the report is made, once for all ranks.

use crate::call::hooks;
use crate::monitor::{FURTHER_SITES, Function, SiteRecord};
use crate::process::modules::{self, Changes, Module};
use crate::process::runtime::Runtime;
use crate::process::stack;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::PathBuf;

/// Most sites of a rank; calls from further ones are told together, by function.
const MOST: usize = 1 << 12;

static SITES: Sites = Sites(Mutex::new(None));

/// What is known of them, once that is wanted.
struct Sites(Mutex<Option<Known>>);

#[derive(Default)]
struct Known {
    loaded: Loaded,
    /// The files of the sites, each once.
    files: Vec<PathBuf>,
    /// Where the addresses are that calls came from since files were last loaded or unloaded: then others may lie
    /// there.
    places: HashMap<usize, Place>,
    sites: HashMap<(Place, Function), Site>,
}

/// The code that is loaded, as of these changes.
#[derive(Default)]
struct Loaded {
    changes: Changes,
    /// This library, and those of MPI.
    passed_over: Vec<Module>,
    others: Vec<Module>,
}

/// Where a call returns to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    /// Which of the files; none for code that is of no file.
    file: Option<usize>,
    /// The address as the file has it.
    address: usize,
}

/// All places that there is no room for.
const FURTHER: Place = Place { file: None, address: FURTHER_SITES as usize };

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
    *SITES.0.lock() = Some(Known::default());
    hooks::set_sites(&SITES);
}

impl Loaded {
    /// Of what is loaded now.
    fn now(changes: Changes) -> Self {
        let own = start as *const () as usize;
        let is_mpi = |module: &Module| {
            let name = module.path.file_name().unwrap_or_default().to_string_lossy();
            ["libmpi", "libpmpi", "libopen-", "libfmpi"].iter().any(|beginning| name.starts_with(beginning))
        };
        let (passed_over, others) = modules::all().into_iter().partition(|module| module.holds(own) || is_mpi(module));
        Self { changes, passed_over, others }
    }

    /// The innermost return address of this thread that is in none of the files passed over; 0 if there is none.
    fn caller(&self) -> usize {
        let mut place = 0;
        stack::walk(&mut |instruction| {
            let is_passed_over = self.passed_over.iter().any(|module| module.holds(instruction));
            if !is_passed_over {
                place = instruction;
            }
            !is_passed_over
        });
        place
    }
}

impl Known {
    /// Takes note of what the program has loaded and unloaded until `changes`.
    fn follow(&mut self, changes: Changes) {
        if self.loaded.changes != changes {
            self.loaded = Loaded::now(changes);
            self.places.clear();
        }
    }

    /// Where an address is.
    fn place(&mut self, address: usize) -> Place {
        if let Some(place) = self.places.get(&address) {
            return *place;
        }
        // The call is before the place that it returns to, and may end its function.
        let module = self.loaded.others.iter().find(|module| module.holds(address.saturating_sub(1)));
        let place = match module {
            None => Place { file: None, address },
            Some(Module { path, base, .. }) => {
                let file = match self.files.iter().position(|file| file == path) {
                    Some(file) => file,
                    None if self.sites.len() >= MOST => return FURTHER,
                    None => {
                        self.files.push(path.clone());
                        self.files.len() - 1
                    }
                };
                Place { file: Some(file), address: address.wrapping_sub(*base) }
            }
        };
        if self.places.len() < MOST {
            self.places.insert(address, place);
        }
        place
    }

    /// The sum for calls of the function from there, or from all that there is no room for.
    fn site(&mut self, place: Place, function: Function) -> &mut Site {
        let is_kept = self.sites.len() < MOST || self.sites.contains_key(&(place, function));
        self.sites.entry((if is_kept { place } else { FURTHER }, function)).or_default()
    }
}

impl hooks::Sites for Sites {
    fn count(&self, function: Function, bytes: u64, ticks: u64) {
        let mut known = self.0.lock();
        let Some(known) = &mut *known else { return };
        // What this thread is in a call of stays loaded meanwhile. That it is there now is in these numbers.
        known.follow(modules::changes());
        let caller = known.loaded.caller();
        let place = known.place(caller);
        let site = known.site(place, function);
        site.calls += 1;
        site.bytes = site.bytes.wrapping_add(bytes);
        site.ticks += ticks;
        site.longest = site.longest.max(ticks);
    }
}

/// Forgets what was kept.
pub fn reset() {
    if let Some(known) = &mut *SITES.0.lock() {
        *known = Known::default();
    }
}

/// What was kept, for this rank's record.
pub fn records(runtime: &Runtime) -> Vec<SiteRecord> {
    let known = SITES.0.lock();
    let Some(Known { files, sites, .. }) = &*known else { return Vec::new() };
    let record = |(&(place, function), site): (&(Place, Function), &Site)| SiteRecord {
        module: place.file.map_or_else(String::new, |file| files[file].to_string_lossy().into_owned()),
        address: place.address as u64,
        function,
        calls: site.calls,
        bytes: site.bytes,
        total_ns: runtime.nanoseconds(site.ticks),
        max_ns: runtime.nanoseconds(site.longest),
    };
    sites.iter().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Collective;
    use std::path::Path;

    const BCAST: Function = Function::blocking(Collective::Bcast);

    fn module(path: &str, base: usize) -> Module {
        let code = std::iter::once(base..base + 0x1000).collect();
        Module { path: path.into(), base, code }
    }

    fn with(loaded: Vec<Module>) -> Known {
        Known { loaded: Loaded { others: loaded, ..Loaded::default() }, ..Known::default() }
    }

    #[test]
    fn an_address_is_of_what_is_loaded_there_when_it_is_called_from() {
        let mut known = with(vec![module("/a.so", 0x1000)]);
        let first = known.place(0x1010);
        assert_eq!((first.file, first.address), (Some(0), 0x10));
        // A file that is loaded elsewhere later has the same places, and another one at its address has its own.
        known.loaded.others = vec![module("/b.so", 0x1000), module("/a.so", 0x5000)];
        known.places.clear();
        assert!(known.place(0x5010) == first);
        let second = known.place(0x1010);
        assert_eq!((second.file, second.address), (Some(1), 0x10));
        assert_eq!(known.files, [Path::new("/a.so"), Path::new("/b.so")]);
        assert_eq!(known.place(0x9000).file, None);
    }

    #[test]
    fn what_is_loaded_is_looked_up_again_only_where_it_has_changed() {
        let mut known = with(vec![module("/a.so", 0x1000)]);
        known.place(0x1010);
        known.follow(Changes::default());
        assert_eq!((known.places.len(), known.loaded.others.len()), (1, 1));
        known.follow(modules::changes());
        assert!(known.places.is_empty() && known.loaded.others.iter().all(|module| module.path != Path::new("/a.so")));
        let own = reset as *const () as usize;
        assert!(known.loaded.passed_over.iter().any(|module| module.holds(own)), "what has this code");
    }

    #[test]
    fn calls_from_further_places_are_told_together() {
        let mut known = with(vec![module("/a.so", 0x1000), module("/b.so", 1 << 20)]);
        for address in 0..MOST + 10 {
            let place = known.place(0x1000_0000 + address);
            known.site(place, BCAST).calls += 1;
        }
        let place = known.place((1 << 20) + 4);
        known.site(place, BCAST).calls += 1;
        assert_eq!((known.sites.len(), known.files.len()), (MOST + 1, 0));
        assert_eq!(known.sites[&(FURTHER, BCAST)].calls, 11);
        assert_eq!(known.sites.values().map(|site| site.calls).sum::<u64>(), MOST as u64 + 11);
    }
}

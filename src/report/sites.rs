//! The functions and lines of the program that addresses stand for, from its files.

use crate::monitor::{SiteRow, Summary};
use addr2line::Loader;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Names the sites that have no name yet, as far as their files tell: those that are not what ran any more tell
/// nothing.
pub fn name_sites(summary: &mut Summary) {
    let started = UNIX_EPOCH + Duration::from_secs_f64(summary.started_unix_seconds.max(0.0));
    let mut loaders: HashMap<String, Option<Loader>> = HashMap::new();
    for site in summary.sites.iter_mut().filter(|site| site.place.is_none() && !site.module.is_empty()) {
        let loader = loaders.entry(site.module.clone()).or_insert_with_key(|module| load(module, started));
        // The call is before the place that it returns to, and may end its function.
        site.place = loader.as_ref().and_then(|loader| place(loader, site.address.saturating_sub(1)));
    }
}

/// What people know each of the sites by, a different one for each of a function's: where a line makes several calls,
/// as where a loop is unrolled, with the address as well.
pub fn titles(sites: &[SiteRow]) -> Vec<String> {
    let mut alike: HashMap<(&str, String), usize> = HashMap::new();
    sites.iter().for_each(|site| *alike.entry((&site.function, site.title())).or_default() += 1);
    let title = |site: &SiteRow| match (site.title(), &site.place) {
        (title, Some(_)) if alike[&(site.function.as_str(), title.clone())] > 1 => {
            format!("{title} at {:#x}", site.address)
        }
        (title, _) => title,
    };
    sites.iter().map(title).collect()
}

fn load(module: &str, started: SystemTime) -> Option<Loader> {
    let changed = std::fs::metadata(module).and_then(|found| found.modified()).ok()?;
    if changed > started { None } else { Loader::new(module).ok() }
}

/// Function, file and line.
fn place(loader: &Loader, address: u64) -> Option<String> {
    let mut function = None;
    let mut line = None;
    if let Ok(mut frames) = loader.find_frames(address)
        && let Ok(Some(frame)) = frames.next()
    {
        function = frame.function.and_then(|name| name.demangle().ok().map(|name| name.into_owned()));
        line = frame.location.and_then(|location| {
            let file = Path::new(location.file?).file_name()?.to_string_lossy().into_owned();
            Some(location.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
        });
    }
    let function = function.or_else(|| {
        let symbol = loader.find_symbol(address)?;
        Some(addr2line::demangle_auto(symbol.into(), None).into_owned())
    });
    match (function, line) {
        (Some(function), Some(line)) => Some(format!("{function} ({line})")),
        (function, line) => function.or(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_line_are_told_apart_by_their_address() {
        let site = |function: &str, place: Option<&str>, address| SiteRow {
            function: function.into(),
            place: place.map(Into::into),
            module: "/bin/app".into(),
            address,
            ..SiteRow::default()
        };
        let line = Some("main (app.c:7)");
        let sites = [
            site("MPI_Bcast", line, 0x10),
            site("MPI_Bcast", line, 0x20),
            site("MPI_Reduce", line, 0x30),
            site("MPI_Bcast", None, 0x40),
        ];
        let expected = ["main (app.c:7) at 0x10", "main (app.c:7) at 0x20", "main (app.c:7)", "app+0x40"];
        assert_eq!(titles(&sites), expected);
    }

    #[test]
    fn what_the_file_tells_is_told_and_other_places_are_left_unnamed() {
        // Where this test's own program has the function, as its file has it.
        let program = std::env::current_exe().unwrap().to_string_lossy().into_owned();
        let loader = Loader::new(&program).unwrap();
        let name = "what_the_file_tells_is_told_and_other_places_are_left_unnamed";
        let address = {
            use std::io::BufRead;
            // The mapping of this code, to take its base off.
            let here = what_the_file_tells_is_told_and_other_places_are_left_unnamed as *const () as u64;
            let maps = std::io::BufReader::new(std::fs::File::open("/proc/self/maps").unwrap());
            let first = maps.lines().map_while(Result::ok).find(|line| line.ends_with(&program)).unwrap();
            let base = u64::from_str_radix(first.split('-').next().unwrap(), 16).unwrap();
            here - base
        };
        assert!(place(&loader, address).unwrap().contains(name));
        let site = |module: &str| SiteRow { module: module.into(), address: address + 1, ..SiteRow::default() };
        let named = |sites, started_unix_seconds| {
            let mut summary = Summary { sites, started_unix_seconds, ..Summary::default() };
            name_sites(&mut summary);
            summary.sites.into_iter().map(|site| site.title()).collect::<Vec<_>>()
        };
        let titles = named(vec![site(&program), site("/nowhere/app"), site("")], 4e9);
        assert!(titles[0].contains(name) && titles[0].contains("(sites.rs:"), "{titles:?}");
        assert_eq!(titles[1], format!("app+{:#x}", address + 1));
        assert!(!named(vec![site(&program)], 0.0)[0].contains(name), "built after the run");
    }
}

//! Open MPI's own count of messages, where its monitoring component is switched on (`pml_monitoring_enable`): read
//! through the tools interface of MPI when the report is gathered.
//!
//! Two layers count: *pml* every message of a point-to-point call, Collie's among them; *coll* what the MPI library's
//! own collectives mean to move, not what they send. What Collie itself causes for agreements and reports is taken off.
//! Some versions (4.1.4, 4.1.8) forget the variables of pml as soon as MPI is initialised; then coll is all there is.

use crate::monitor::TrafficRecord;
use crate::mpi::constants;
use crate::mpi::error::SUCCESS;
use mpi_sys::{MPI_T_pvar_handle, MPI_T_pvar_session};
use parking_lot::Mutex;
use std::ffi::CStr;
use std::os::raw::c_int;

/// What switches the component on; `mpirun --mca` arrives as this variable.
const SWITCH: &str = "OMPI_MCA_pml_monitoring_enable";

/// Messages and bytes to each world rank, so far.
type Counts = Vec<(u64, u64)>;

/// The open session.
#[derive(Debug)]
pub struct Monitoring {
    session: MPI_T_pvar_session,
    /// pml, coll; `None` where the MPI library offers no such variables.
    layers: [Option<Layer>; 2],
    ranks: usize,
    /// What Collie itself caused, by layer.
    own: Mutex<[Counts; 2]>,
}

#[derive(Debug)]
struct Layer {
    messages: MPI_T_pvar_handle,
    bytes: MPI_T_pvar_handle,
}

// SAFETY: handles of the tools interface belong to the process, not to a thread, and are only read from here on.
unsafe impl Send for Monitoring {}
// SAFETY: as above.
unsafe impl Sync for Monitoring {}

impl Monitoring {
    /// Starts counting, if the component is switched on. Otherwise the tools interface is left alone: starting it takes
    /// Open MPI a quarter of a second.
    pub fn start(world_rank: usize, world_size: usize) -> Option<Self> {
        let switched_on = std::env::var(SWITCH).is_ok_and(|value| !matches!(value.trim(), "" | "0"));
        if !crate::mpi::family::HAS_MONITORING || !switched_on {
            return None;
        }
        let (mut provided, mut session) = (0, std::ptr::null_mut());
        // SAFETY: out-parameters are valid for writes.
        unsafe {
            if mpi_sys::PMPI_T_init_thread(mpi_sys::MPI_THREAD_SINGLE as c_int, &mut provided) != SUCCESS {
                return None;
            }
            if mpi_sys::PMPI_T_pvar_session_create(&mut session) != SUCCESS {
                mpi_sys::PMPI_T_finalize();
                return None;
            }
        }
        let layer = |messages, bytes| {
            let (messages, bytes) = (handle(session, messages, world_size)?, handle(session, bytes, world_size)?);
            Some(Layer { messages, bytes })
        };
        let layers = [
            layer(c"pml_monitoring_messages_count", c"pml_monitoring_messages_size"),
            layer(c"coll_monitoring_messages_count", c"coll_monitoring_messages_size"),
        ];
        if world_rank == 0 && layers[0].is_none() {
            log::info!(
                "this release of Open MPI does not expose the message counts of its monitoring (Open MPI issue 9260)"
            );
        }
        let nothing = || vec![(0, 0); world_size];
        Some(Self { session, layers, ranks: world_size, own: Mutex::new([nothing(), nothing()]) })
    }

    /// Runs `action`, whose messages are Collie's own.
    pub fn uncounted<T>(&self, action: impl FnOnce() -> T) -> T {
        let before = self.read();
        let done = action();
        let after = self.read();
        for (own, (before, after)) in self.own.lock().iter_mut().zip(before.iter().zip(&after)) {
            for (own, (before, after)) in own.iter_mut().zip(before.iter().zip(after)) {
                *own = (own.0 + after.0.saturating_sub(before.0), own.1 + after.1.saturating_sub(before.1));
            }
        }
        done
    }

    /// What was counted so far without what Collie caused, pml and coll.
    pub fn records(&self) -> [Vec<TrafficRecord>; 2] {
        let own = self.own.lock();
        let mut layers = self.read().into_iter().zip(own.iter()).map(|(counts, own)| {
            let without = counts.iter().zip(own).enumerate().map(|(to, (counted, own))| TrafficRecord {
                to: to as u32,
                messages: counted.0.saturating_sub(own.0),
                bytes: counted.1.saturating_sub(own.1),
            });
            without.filter(|sent| sent.messages > 0).collect()
        });
        [layers.next().unwrap_or_default(), layers.next().unwrap_or_default()]
    }

    fn read(&self) -> [Counts; 2] {
        self.layers.each_ref().map(|layer| {
            let Some(layer) = layer else { return Vec::new() };
            let read = |handle| {
                let mut values = vec![0u64; self.ranks];
                // SAFETY: the variable has one such number for each rank of the communicator that it is bound to.
                let code = unsafe { mpi_sys::PMPI_T_pvar_read(self.session, handle, values.as_mut_ptr().cast()) };
                if code == SUCCESS { values } else { Vec::new() }
            };
            read(layer.messages).into_iter().zip(read(layer.bytes)).collect()
        })
    }

    /// Ends the session.
    pub fn end(&self) {
        let mut session = self.session;
        // SAFETY: nothing is read any more; the session takes its handles with it.
        unsafe {
            mpi_sys::PMPI_T_pvar_session_free(&mut session);
            mpi_sys::PMPI_T_finalize();
        }
    }
}

/// The started variable of that name, bound to `MPI_COMM_WORLD`; `None` if there is none with a number for each rank.
fn handle(session: MPI_T_pvar_session, name: &CStr, ranks: usize) -> Option<MPI_T_pvar_handle> {
    let (mut index, mut handle, mut count) = (0, std::ptr::null_mut(), 0);
    let mut world = constants::comm_world();
    // SAFETY: the name ends in a zero byte; out-parameters are valid for writes; the object is a communicator's handle,
    // as the variable's binding wants it.
    unsafe {
        let found = mpi_sys::PMPI_T_pvar_get_index(name.as_ptr(), constants::pvar_class_size(), &mut index) == SUCCESS
            && mpi_sys::PMPI_T_pvar_handle_alloc(session, index, (&raw mut world).cast(), &mut handle, &mut count)
                == SUCCESS
            && usize::try_from(count) == Ok(ranks);
        if !found {
            return None;
        }
        mpi_sys::PMPI_T_pvar_start(session, handle);
    }
    Some(handle)
}

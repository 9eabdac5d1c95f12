//! Messages of measurements that are under way, in buffers that are lent for so long: whatever comes between, MPI no
//! longer reads or writes these when they are given back.

use super::constants;
use super::error::{Result, check};
use super::waiting::{cancel, wait_for};
use mpi_sys::{MPI_Comm, MPI_Request};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::os::raw::c_int;

type Requests = SmallVec<[MPI_Request; 8]>;

/// Messages to and from ranks of one communicator. Never leaked, since dropping it is what ends those that nobody has
/// waited for.
pub struct UnderWay<'a> {
    comm: MPI_Comm,
    tag: c_int,
    receives: Requests,
    sends: Requests,
    buffers: PhantomData<&'a mut [u8]>,
}

impl<'a> UnderWay<'a> {
    /// None yet.
    pub fn nothing(comm: MPI_Comm, tag: c_int) -> Self {
        Self { comm, tag, receives: Requests::new(), sends: Requests::new(), buffers: PhantomData }
    }

    /// Starts to receive a message that fills `into`.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn receive(&mut self, from: c_int, into: &'a mut [u8]) -> Result {
        let (number, mut request) = (into.len() as c_int, constants::request_null());
        // The address of an empty slice may be one that means something to MPI.
        let first = if into.is_empty() { std::ptr::null_mut() } else { into.as_mut_ptr() };
        // SAFETY: room for so many bytes, which is lent until the request has been waited for, here or in `drop`; the
        // out-parameter is valid for writes.
        check(unsafe {
            mpi_sys::PMPI_Irecv(first.cast(), number, constants::byte(), from, self.tag, self.comm, &mut request)
        })?;
        self.receives.push(request);
        Ok(())
    }

    /// Starts to send a message.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn send(&mut self, to: c_int, out: &'a [u8]) -> Result {
        let (number, mut request) = (out.len() as c_int, constants::request_null());
        let first = if out.is_empty() { std::ptr::null() } else { out.as_ptr() };
        // SAFETY: so many bytes, lent as above; the out-parameter is valid for writes.
        check(unsafe {
            mpi_sys::PMPI_Isend(first.cast(), number, constants::byte(), to, self.tag, self.comm, &mut request)
        })?;
        self.sends.push(request);
        Ok(())
    }

    /// Waits until one more message has come.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn wait_for_any(&mut self) -> Result {
        let (mut place, status) = (0, constants::status_ignore());
        let (number, first) = (self.receives.len() as c_int, self.receives.as_mut_ptr());
        // SAFETY: so many requests, which are under way or null; no status is asked for.
        check(unsafe { mpi_sys::PMPI_Waitany(number, first, &mut place, status) })
    }

    /// Waits for all of them.
    ///
    /// # Errors
    /// The first that a message met.
    pub fn wait(mut self) -> Result {
        let received = wait_for(&mut self.receives, false);
        let all = received.and(wait_for(&mut self.sends, false));
        // Nothing is left to end, which those who measure would wait for.
        self.receives.clear();
        self.sends.clear();
        all
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        // Null requests are those that have been waited for.
        let are_left = |request: &&mut MPI_Request| **request != constants::request_null();
        self.receives.iter_mut().filter(are_left).for_each(cancel);
        if let Err(error) = wait_for(&mut self.sends, true) {
            log::warn!("a message that was given up: {error:?}");
        }
    }
}

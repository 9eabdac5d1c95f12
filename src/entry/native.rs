//! The MPI library's own procedures as functions, for entries whose native procedure the header does not declare: those
//! of Fortran, and what later versions of MPI have added.

/// The library's procedure that `$find` finds by these names, as a function of these arguments. Looked up once for each
/// place that this is written in.
macro_rules! native_procedure {
    ($find:ident($($name:expr),+) as fn($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {{
        type Native = unsafe extern "C-unwind" fn($($type),*) $(-> $result)?;
        static NATIVE: std::sync::atomic::AtomicPtr<std::os::raw::c_void> =
            std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
        let found: *mut std::os::raw::c_void = $find(&NATIVE, $($name),+);
        // SAFETY: what is found is the address of a procedure, and not null. Whether it takes these arguments is a
        // matter of whoever calls it, which is unsafe.
        unsafe { std::mem::transmute::<*mut std::os::raw::c_void, Native>(found) }
    }};
}
pub(crate) use native_procedure;

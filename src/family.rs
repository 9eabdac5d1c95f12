//! The binary interfaces of MPI libraries: a program that was compiled for one runs with any library of the same, and
//! one build of Collie serves each.

/// A binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Family {
    /// Open MPI 4 and 5
    #[cfg_attr(feature = "cli", value(name = "openmpi"))]
    OpenMpi,
    /// MPICH 3.4 and later, Intel MPI, and compatible libraries
    #[cfg_attr(feature = "cli", value(name = "mpich"))]
    Mpich,
    /// The standard ABI of MPI 5
    #[cfg_attr(feature = "cli", value(name = "abi"))]
    Abi,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenMpi, Self::Mpich, Self::Abi];

    /// Name of its folder in `dist`, and of its value on the command line.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Abi => "abi",
        }
    }

    /// Whose libraries have it, for messages.
    pub const fn described(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH, Intel MPI and compatible libraries",
            Self::Abi => "the standard ABI of MPI 5",
        }
    }

    /// That of a library by the name of its file, as `libmpi.so.40`; versions behind the first number do not count.
    pub fn of_library(file: &str) -> Option<Self> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let (stem, version) = name.split_once(".so")?;
        let major = version.trim_start_matches('.').split('.').next().unwrap_or("");
        match stem {
            "libmpi_abi" => Some(Self::Abi),
            "libmpich" => Some(Self::Mpich),
            // Cray's and others' names tell the compiler behind an underscore.
            _ if stem == "libmpi" || stem.starts_with("libmpi_") => match major {
                "40" => Some(Self::OpenMpi),
                "12" => Some(Self::Mpich),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_by_name() {
        for (file, family) in [
            ("libmpi.so.40", Some(Family::OpenMpi)),
            ("/opt/openmpi/lib/libmpi.so.40.30.4", Some(Family::OpenMpi)),
            ("libmpich.so.12", Some(Family::Mpich)),
            ("libmpi.so.12.0.0", Some(Family::Mpich)),
            ("libmpi_cray.so.12", Some(Family::Mpich)),
            ("libmpi_abi.so.1", Some(Family::Abi)),
            ("libmpi_abi.so", Some(Family::Abi)),
            ("libmpi.so", None),
            ("libmpi.so.20", None),
            ("libmpifort.so.12", None),
            ("libmpich", None),
            ("libc.so.6", None),
        ] {
            assert_eq!(Family::of_library(file), family, "{file}");
        }
    }
}

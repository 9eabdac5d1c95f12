//! Which MPI library the program runs on, as far as rules may speak of it.

use super::error::suggestion;
use std::fmt::{Display, Formatter, Result};

/// Whose library it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Implementation {
    /// None of those below, or not known.
    #[default]
    Other,
    /// Open MPI.
    OpenMpi,
    /// MPICH itself.
    Mpich,
    /// Intel MPI.
    Intel,
    /// Cray MPICH.
    Cray,
    /// MVAPICH.
    Mvapich,
}

impl Implementation {
    /// Those that rules can name.
    pub const NAMED: [Self; 5] = [Self::OpenMpi, Self::Mpich, Self::Intel, Self::Cray, Self::Mvapich];

    /// What users write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Intel => "intel",
            Self::Cray => "cray",
            Self::Mvapich => "mvapich",
        }
    }

    /// Reads what users write.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        Self::NAMED.into_iter().find(|known| known.name() == text).ok_or_else(|| {
            let names = Self::NAMED.map(Self::name);
            format!("'{text}' is not an MPI library; accepted: {}{}", names.join(", "), suggestion(text, names))
        })
    }
}

/// Major, minor, patch; what is not told is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub [u16; 3]);

impl Version {
    /// Reads one to three numbers with dots between.
    pub fn parse(text: &str) -> Option<Self> {
        let (version, count) = Self::leading(text);
        let whole = text.split('.').count() == count && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        whole.then_some(version)
    }

    /// The numbers that `text` begins with, as `4.1.4` or `2021.18`; and how many there are, at most three.
    fn leading(text: &str) -> (Self, usize) {
        let (mut version, mut count) = ([0; 3], 0);
        for part in text.split('.').take(3) {
            let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let Ok(number) = part[..digits].parse() else { break };
            version[count] = number;
            count += 1;
            if digits < part.len() {
                break;
            }
        }
        (Self(version), count)
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// A library and its version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mpi {
    /// Whose.
    pub implementation: Implementation,
    /// Which release.
    pub version: Version,
}

/// How each library's version text (`MPI_Get_library_version`) begins the part that holds the version. Those that
/// others are made of come last: Cray's and MVAPICH's texts name MPICH too.
const WORDS: [(Implementation, &str); 5] = [
    (Implementation::OpenMpi, "Open MPI v"),
    (Implementation::Intel, "Intel(R) MPI Library "),
    (Implementation::Cray, "CRAY MPICH version "),
    (Implementation::Mvapich, "MVAPICH"),
    (Implementation::Mpich, "MPICH Version:"),
];

/// What a library's own words on what it is are called by: the first line, up to what its builder added after a comma.
pub fn short_name(words: &str) -> String {
    words.split(['\n', ',']).next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Mpi {
    /// One that nothing is known of.
    pub const UNKNOWN: Self = Self { implementation: Implementation::Other, version: Version([0; 3]) };

    /// By the library's own words.
    pub fn of(text: &str) -> Self {
        for (implementation, words) in WORDS {
            if let Some((_, rest)) = text.split_once(words) {
                let rest = match implementation {
                    // `MVAPICH2 Version      :	2.3.7`, `MVAPICH Version:	3.0`
                    Implementation::Mvapich => rest.split_once(':').map_or("", |(_, version)| version),
                    _ => rest,
                };
                return Self { implementation, version: Version::leading(rest.trim_start()).0 };
            }
        }
        Self::UNKNOWN
    }

    /// The same as one number, for ranks to compare.
    pub const fn packed(self) -> u64 {
        let [major, minor, patch] = self.version.0;
        (self.implementation as u64) << 48 | (major as u64) << 32 | (minor as u64) << 16 | patch as u64
    }
}

/// Versions from one to another, both with all that they begin: `4.1-5` is 4.1.0 up to the last 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Versions {
    least: (Version, u8),
    /// None for no end.
    most: Option<(Version, u8)>,
}

impl Versions {
    /// What is accepted.
    pub const ACCEPTED: &'static str = "a version such as 4.1, or a range such as 4.1-5 or 5-inf";

    /// Those of one minor release.
    pub const fn of_minor(version: Version) -> Self {
        let [major, minor, _] = version.0;
        let only = (Version([major, minor, 0]), 2);
        Self { least: only, most: Some(only) }
    }

    /// Reads a range.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let refuse = || format!("'{text}' is not a range of versions; accepted: {}", Self::ACCEPTED);
        let end = |text: &str| -> std::result::Result<_, String> {
            let version = Version::parse(text).ok_or_else(refuse)?;
            Ok((version, text.split('.').count() as u8))
        };
        let (least, most) = match text.split_once('-') {
            None => (end(text)?, Some(end(text)?)),
            Some((least, "inf" | "*")) => (end(least)?, None),
            Some((least, most)) => (end(least)?, Some(end(most)?)),
        };
        let versions = Self { least, most };
        if versions.first() > versions.last() {
            return Err(format!("'{text}' is empty: its end is below its start"));
        }
        Ok(versions)
    }

    const fn first(self) -> Version {
        self.least.0
    }

    fn last(self) -> Version {
        let Some((mut last, count)) = self.most else { return Version([u16::MAX; 3]) };
        last.0[usize::from(count)..].fill(u16::MAX);
        last
    }

    /// Whether `version` is one of them.
    pub fn contains(self, version: Version) -> bool {
        (self.first()..=self.last()).contains(&version)
    }

    /// The first version of them, and the first behind them.
    pub fn edges(self) -> impl Iterator<Item = Version> {
        let mut next = self.last();
        let behind = next.0.iter().rposition(|number| *number < u16::MAX).map(|place| {
            next.0[place] += 1;
            next.0[place + 1..].fill(0);
            next
        });
        [Some(self.first()), behind].into_iter().flatten()
    }

    /// Whether some version is in both.
    pub fn meets(self, other: Self) -> bool {
        self.first() <= other.last() && other.first() <= self.last()
    }
}

impl Display for Versions {
    /// As [`Versions::parse`] reads it.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let written = |(version, count): (Version, u8)| {
            version.0[..usize::from(count)].iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
        };
        f.write_str(&written(self.least))?;
        match self.most {
            None => f.write_str("-inf"),
            Some(most) if most == self.least => Ok(()),
            Some(most) => write!(f, "-{}", written(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_by_their_own_words() {
        for (text, implementation, version) in [
            (
                "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4",
                Implementation::OpenMpi,
                [4, 1, 4],
            ),
            ("Open MPI v5.0.11, package: x", Implementation::OpenMpi, [5, 0, 11]),
            ("Open MPI v6.1.0a1", Implementation::OpenMpi, [6, 1, 0]),
            ("MPICH Version:      4.0.2\nMPICH Release date: Thu", Implementation::Mpich, [4, 0, 2]),
            ("MPICH Version: 4.2", Implementation::Mpich, [4, 2, 0]),
            ("Intel(R) MPI Library 2021.18 for Linux* OS\n", Implementation::Intel, [2021, 18, 0]),
            ("MPI VERSION    : CRAY MPICH version 8.1.18.4 (ANL base 3.4a2)", Implementation::Cray, [8, 1, 18]),
            ("MVAPICH2 Version      :\t2.3.7\n", Implementation::Mvapich, [2, 3, 7]),
            ("Something else 1.2", Implementation::Other, [0, 0, 0]),
            ("", Implementation::Other, [0, 0, 0]),
        ] {
            let expected = Mpi { implementation, version: Version(version) };
            assert_eq!(Mpi::of(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_of_versions() {
        type Three = [u16; 3];
        let cases: [(&str, &[Three], &[Three]); 5] = [
            ("4.1", &[[4, 1, 0], [4, 1, 9]], &[[4, 0, 9], [4, 2, 0], [5, 1, 0]]),
            ("4.1-5", &[[4, 1, 0], [4, 9, 9], [5, 0, 11]], &[[4, 0, 9], [6, 0, 0]]),
            ("4.1.4", &[[4, 1, 4]], &[[4, 1, 3], [4, 1, 5]]),
            ("5-inf", &[[5, 0, 0], [2021, 18, 0]], &[[4, 9, 9]]),
            ("4.0.2-4.1", &[[4, 0, 2], [4, 1, 8]], &[[4, 0, 1], [4, 2, 0]]),
        ];
        for (text, inside, outside) in cases {
            let versions = Versions::parse(text).unwrap();
            assert_eq!(versions.to_string(), text);
            assert!(inside.iter().all(|version| versions.contains(Version(*version))), "{text}");
            assert!(!outside.iter().any(|version| versions.contains(Version(*version))), "{text}");
        }
        for (text, words) in [
            ("", "is not a range of versions"),
            ("4.x", "is not a range of versions"),
            ("4.1.2.3", "is not a range of versions"),
            ("-5", "is not a range of versions"),
            ("5-4.1", "is empty"),
        ] {
            let error = Versions::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let of = |text| Versions::parse(text).unwrap();
        assert!(of("4.1").meets(of("4-5")) && !of("4.1").meets(of("4.2-5")));
        let edges = |text| of(text).edges().map(|version| version.to_string()).collect::<Vec<_>>();
        assert_eq!(edges("4.1-5"), ["4.1.0", "6.0.0"]);
        assert_eq!(edges("4.1.4"), ["4.1.4", "4.1.5"]);
        assert_eq!(edges("5-inf"), ["5.0.0"]);
    }
}

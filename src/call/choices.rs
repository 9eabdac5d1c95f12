//! What the program chose (`collie.h`), everywhere and on single communicators.

use crate::operation::Operation;
use crate::selection::Wanted;
use crate::threads::Versions;
use parking_lot::Mutex;

/// A choice for each operation.
pub type Choices = [Wanted; Operation::ALL.len()];

/// The choices for one communicator, or everywhere; nothing until the program makes one.
#[derive(Debug)]
pub struct Chosen(Mutex<Option<Box<Choices>>>);

/// What the program chose for all communicators.
pub static EVERYWHERE: Chosen = Chosen::nothing();

/// Changes with every choice, and whenever recording is switched or reset: what was decided under another version no
/// longer counts.
#[unsafe(link_section = "collie_looked_at")]
pub static VERSIONS: Versions = Versions::new();

impl Chosen {
    /// None yet.
    pub const fn nothing() -> Self {
        Self(Mutex::new(None))
    }

    /// Chooses for `operation` from the next call on.
    pub fn choose(&self, operation: Operation, wanted: Wanted) {
        self.0.lock().get_or_insert_default()[operation as usize] = wanted;
        VERSIONS.changed();
    }

    /// What was chosen for `operation`; `None` if that is left to others.
    fn get(&self, operation: Operation) -> Option<Wanted> {
        let wanted = self.0.lock().as_deref().map(|chosen| chosen[operation as usize].clone());
        wanted.filter(|wanted| *wanted != Wanted::Auto)
    }

    /// What the program chose for `operation` on the communicator that these are the choices for, or else everywhere.
    pub fn here_or_everywhere(&self, operation: Operation) -> Option<Wanted> {
        self.get(operation).or_else(|| EVERYWHERE.get(operation))
    }
}

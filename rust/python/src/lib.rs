//! The Python module `retell_fast._native`: converts arguments, releases the interpreter, calls the core, converts
//! results and errors. There is no logic here.

mod census;
mod conversation;
mod dictionary;
mod discover;
mod error;
mod event;
mod events;
mod fresh;
mod images;
mod parse;
mod progress;
mod reader;

use pyo3::prelude::*;

/// Strings are made on one thread and let go on another, by the thousand, and glibc's allocator grows its arenas
/// under a lock that page faults wait for: the parse of 150 MB takes a fifth less time with this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of `retell_fast`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::census::types;
    #[pymodule_export]
    use crate::conversation::Conversation;
    #[pymodule_export]
    use crate::discover::{Preview, discover};
    #[pymodule_export]
    use crate::error::{
        AmbiguousSessionError, DamagedInputWarning, ImageVerificationError, InvalidInputError, MissingAssetError,
        MissingAssetWarning, NoConversationError, RetellError, RetellWarning, SessionNotFoundError,
        UnknownEntryTypeError, UnknownEntryTypeWarning,
    };
    #[pymodule_export]
    use crate::event::{Event, Screenshot, SubagentRef};
    #[pymodule_export]
    use crate::events::Events;
    #[pymodule_export]
    use crate::images::{Asset, ImageCodec, ImageReport, codec_for, externalize, list_images, restore};
    #[pymodule_export]
    use crate::parse::parse;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        py.get_type::<RetellError>().setattr("hint", py.None())?;
        // What `collections.abc` gives again, and already loaded in every interpreter.
        let sequence = py.import("_collections_abc")?.getattr("Sequence")?;
        sequence.call_method1("register", (py.get_type::<Events>(),))?;
        Ok(())
    }
}

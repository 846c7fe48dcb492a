//! The core's errors as Python exceptions.

use std::ffi::CString;

use pyo3::create_exception;
use pyo3::exceptions::{
    PyException, PyIndexError, PyOSError, PyRuntimeError, PyTypeError, PyUserWarning, PyValueError,
};
use pyo3::prelude::*;
use retell_core::{Error, ErrorKind, Refusal, Warning, WarningKind};

create_exception!(retell_fast, RetellError, PyException, "The base of the errors of this package.");
create_exception!(retell_fast, UnknownEntryTypeError, RetellError, "With `strict`: an entry type is not known.");
create_exception!(retell_fast, NoConversationError, RetellError, "There are entries, but nobody says anything.");
create_exception!(retell_fast, SessionNotFoundError, RetellError, "No session has an id that begins so.");
create_exception!(retell_fast, AmbiguousSessionError, RetellError, "Several sessions have ids that begin so.");
create_exception!(retell_fast, InvalidInputError, RetellError, "The input is no transcript.");
create_exception!(retell_fast, MissingAssetError, RetellError, "An asset is missing or altered.");
create_exception!(
    retell_fast,
    ImageVerificationError,
    RetellError,
    "What was written does not give the original back."
);
create_exception!(retell_fast, RetellWarning, PyUserWarning, "The base of the warnings of this package.");
create_exception!(retell_fast, MissingAssetWarning, RetellWarning, "Assets are missing; their placeholders stay.");
create_exception!(retell_fast, UnknownEntryTypeWarning, RetellWarning, "Unknown entry types were passed over.");
create_exception!(
    retell_fast,
    DamagedInputWarning,
    RetellWarning,
    "Lines were damaged or images could not be extracted."
);

/// Converts an error of the core.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    let converted = match error.kind() {
        ErrorKind::Io => return os_error_with_hint(py, error).unwrap_or_else(|failed| failed),
        ErrorKind::UnknownAgent | ErrorKind::WrongSetting | ErrorKind::WrongArgument => {
            return PyValueError::new_err(error.with_its_hint());
        }
        ErrorKind::WrongType => return PyTypeError::new_err(message),
        ErrorKind::OutOfRange => return PyIndexError::new_err(message),
        ErrorKind::Gone => return PyRuntimeError::new_err(message),
        ErrorKind::NotATranscript => InvalidInputError::new_err(message),
        ErrorKind::NoConversation => NoConversationError::new_err(message),
        ErrorKind::UnknownEntryType => UnknownEntryTypeError::new_err(message),
        ErrorKind::MissingAsset => MissingAssetError::new_err(message),
        ErrorKind::NotProven => ImageVerificationError::new_err(message),
        ErrorKind::SessionNotFound => SessionNotFoundError::new_err(message),
        ErrorKind::AmbiguousSession => AmbiguousSessionError::new_err(message),
        _ => RetellError::new_err(message),
    };
    let value = converted.value(py);
    let missing = match error.kind() {
        ErrorKind::MissingAsset => value.setattr("missing", error.names()),
        _ => Ok(()),
    };
    match missing.and_then(|()| value.setattr("hint", error.hint())) {
        Ok(()) => converted,
        Err(failed) => failed,
    }
}

/// What a caller is refused, as an exception.
pub fn refused(py: Python<'_>, refusal: Refusal<'_>) -> PyErr {
    to_python(py, &refusal.into_error())
}

/// Gives a warning of the core, which can end the call: the caller may have made errors of warnings.
pub fn warn(py: Python<'_>, warning: &Warning) -> PyResult<()> {
    let category = match warning.kind {
        WarningKind::UnknownEntryType => py.get_type::<UnknownEntryTypeWarning>(),
        WarningKind::DamagedInput => py.get_type::<DamagedInputWarning>(),
        WarningKind::MissingAsset => py.get_type::<MissingAssetWarning>(),
    };
    // No C string holds a NUL.
    let message = CString::new(warning.message.replace('\0', "\u{fffd}"))?;
    PyErr::warn(py, &category, &message, 1)
}

/// The exception of the system, with the hint that there may be.
fn os_error_with_hint(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let converted = os_error(py, error)?;
    if let Some(hint) = error.hint() {
        converted.value(py).setattr("hint", hint)?;
    }
    Ok(converted)
}

/// The exception that Python itself would raise, with its `errno` and `filename`.
fn os_error(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let Some(io) = error.io() else { return Ok(PyOSError::new_err(error.to_string())) };
    // A file object's own exception comes out as it went in.
    if let Some(raised) = io.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        return Ok(raised.clone_ref(py));
    }
    let code = match io.raw_os_error() {
        Some(code) if cfg!(unix) => code,
        _ => py.import("errno")?.getattr(error.errno_name().unwrap_or("EIO"))?.extract()?,
    };
    let message: String = match io.raw_os_error() {
        None if error.errno_name().is_none() => io.to_string(),
        _ => py.import("os")?.call_method1("strerror", (code,))?.extract()?,
    };
    Ok(PyOSError::new_err((code, message, error.path().map(|path| path.as_os_str().to_owned()))))
}

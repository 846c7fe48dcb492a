//! `discover` and `Preview`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, TryFromFloatSecsError, UNIX_EPOCH};

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyString};
use retell_core::{DiscoverOptions, Error, ErrorKind, Refusal};

use crate::dictionary::to_dict;
use crate::error::{refused, to_python};

/// Lists sessions with what is needed to choose one, the most recently changed first.
#[pyfunction]
#[pyo3(signature = (root=None, *, limit=None, project=None, since=None, agent=None))]
pub fn discover(
    py: Python<'_>,
    root: Option<PathBuf>,
    limit: Option<isize>,
    project: Option<String>,
    since: Option<&Bound<'_, PyAny>>,
    agent: Option<String>,
) -> PyResult<Vec<Preview>> {
    let limit = limit.map(usize::try_from).transpose().map_err(|_| refused(py, Refusal::Limit))?;
    let since = since.map(|since| moment(py, since)).transpose()?;
    let options = DiscoverOptions { root, limit, project, since, agent };
    let previews = py.detach(|| retell_core::discover(&options)).map_err(|error| to_python(py, &error))?;
    Ok(previews.into_iter().map(Preview).collect())
}

/// A date (its beginning, local time), a time, or the text of either.
fn moment(py: Python<'_>, since: &Bound<'_, PyAny>) -> PyResult<SystemTime> {
    let module = py.import("datetime")?;
    let (date, datetime) = (module.getattr("date")?, module.getattr("datetime")?);
    let mut moment = since.clone();
    if moment.is_instance_of::<PyString>() {
        // Python 3.10 does not read the Z.
        let text = moment.extract::<String>()?.replace('Z', "+00:00");
        moment = datetime.call_method1("fromisoformat", (text,))?;
    } else if !moment.is_instance(&date)? {
        let kind = moment.get_type().name()?.to_string();
        return Err(refused(py, Refusal::Moment(&kind)));
    } else if !moment.is_instance(&datetime)? {
        let parts = (moment.getattr("year")?, moment.getattr("month")?, moment.getattr("day")?);
        moment = datetime.call1(parts)?;
    }
    let seconds: f64 = moment.call_method0("timestamp")?.extract()?;
    let since = Duration::try_from_secs_f64(seconds.max(0.0));
    let refused = |error: TryFromFloatSecsError| Error::new(ErrorKind::WrongArgument, error.to_string());
    Ok(UNIX_EPOCH + since.map_err(|error| to_python(py, &refused(error)))?)
}

/// One session as `discover` found it.
#[pyclass(frozen, module = "retell_fast")]
pub struct Preview(retell_core::Preview);

#[pymethods]
impl Preview {
    #[getter]
    fn path(&self) -> &OsStr {
        self.0.path.as_os_str()
    }

    #[getter]
    fn session_id(&self) -> &str {
        &self.0.session_id
    }

    #[getter]
    fn agent(&self) -> &str {
        self.0.agent
    }

    #[getter]
    fn modified(&self) -> f64 {
        self.0.modified
    }

    #[getter]
    fn size(&self) -> u64 {
        self.0.size
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    #[getter]
    fn project_path(&self) -> Option<&str> {
        self.0.project_path.as_deref()
    }

    #[getter]
    fn human_messages(&self) -> usize {
        self.0.human_messages
    }

    #[getter]
    fn assistant_messages(&self) -> usize {
        self.0.assistant_messages
    }

    #[getter]
    fn sessions(&self) -> usize {
        self.0.sessions
    }

    #[getter]
    fn subagents(&self) -> usize {
        self.0.subagents
    }

    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.tools.iter().cloned().into_py_dict(py)
    }

    #[getter]
    fn first_words(&self) -> &str {
        &self.0.first_words
    }

    #[getter]
    fn last_words(&self) -> &str {
        &self.0.last_words
    }

    #[getter]
    fn continuation(&self) -> bool {
        self.0.continuation
    }

    #[getter]
    fn score(&self) -> i64 {
        self.0.score
    }

    #[getter]
    fn reasons(&self) -> Vec<&str> {
        self.0.reasons.iter().map(String::as_str).collect()
    }

    /// Gives all of the above as a dictionary that JSON can hold.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let fields = to_dict(py, &self.0)?;
        // JSON knows no path that is no text; Python does.
        fields.bind(py).set_item("path", self.path())?;
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        format!("<Preview {} {} events>", self.0.session_id, self.0.human_messages + self.0.assistant_messages)
    }
}

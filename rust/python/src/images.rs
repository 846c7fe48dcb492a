//! The image codec: `codec_for`, `ImageCodec`, `Asset`, `externalize`, `restore`, `list_images`, `ImageReport`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use retell_core::Refusal;
use retell_core::images::{self, FileOptions, PlaceholderForm};

use crate::dictionary::to_dict;
use crate::error::{refused, to_python, warn};
use crate::fresh;
use crate::parse::number_of_threads;
use crate::progress::watched_at_once;

/// The codec for an agent's transcripts, or None for agents that do not inline images.
#[pyfunction]
pub fn codec_for(agent: String) -> Option<ImageCodec> {
    images::AGENTS_WITH_IMAGES.contains(&agent.as_str()).then_some(ImageCodec { agent })
}

/// Lifts inline images out of a transcript and puts them back.
#[pyclass(frozen, module = "retell_fast")]
pub struct ImageCodec {
    agent: String,
}

#[pymethods]
#[expect(clippy::unused_self, reason = "all agents' images are handled alike; methods to the caller")]
impl ImageCodec {
    #[getter]
    fn agent(&self) -> &str {
        &self.agent
    }

    /// Gives the transcript with placeholders for its images, and the images, each once.
    #[pyo3(signature = (transcript, *, max_image_bytes=images::DEFAULT_CAP))]
    fn extract_images<'py>(
        &self,
        py: Python<'py>,
        transcript: PyBackedBytes,
        max_image_bytes: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<Asset>)> {
        let lifted = py.detach(|| images::lift(&transcript, max_image_bytes));
        if !lifted.is_changed() {
            drop(lifted);
            return Ok((transcript.into_pyobject(py)?.cast_into()?, Vec::new()));
        }
        let slim = fresh::bytes(py, lifted.length(), |out| lifted.write_to(out))?;
        let asset = |(place, (name, media_type, length)): (usize, (&str, &str, usize))| {
            let data = PyBytes::new_with(py, length, |out| {
                let decoded = lifted.write_image(place, out);
                decoded.then_some(()).ok_or_else(|| refused(py, Refusal::ImageGone))
            })?;
            Ok(Asset { name: name.to_owned(), media_type: media_type.to_owned(), data: data.unbind() })
        };
        let assets = lifted.images().enumerate().map(asset).collect::<PyResult<_>>()?;
        Ok((slim, assets))
    }

    /// Gives the transcript with its images put back. `lookup` is called with an asset's name, or is a mapping.
    #[pyo3(signature = (transcript, lookup, *, format="retell"))]
    fn reinject_images<'py>(
        &self,
        py: Python<'py>,
        transcript: PyBackedBytes,
        lookup: &Bound<'py, PyAny>,
        format: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let form = form_of(py, format)?;
        let call = if lookup.is_callable() { lookup.clone() } else { lookup.getattr("get")? };
        let mut look = |name: &str| -> io::Result<Option<PyBackedBytes>> {
            let found = call.call1((name,)).map_err(io::Error::other)?;
            if found.is_none() {
                return Ok(None);
            }
            found.extract().map(Some).map_err(|error| io::Error::other(PyErr::from(error)))
        };
        let refilled = images::refill(&transcript, form, &mut look)?;
        if let Some(warning) = refilled.restored().warning() {
            warn(py, &warning)?;
        }
        fresh::bytes(py, refilled.length(), |out| refilled.write_to(out))
    }

    /// Tells whether the transcript holds whole placeholders.
    fn has_placeholders(&self, py: Python<'_>, transcript: PyBackedBytes) -> bool {
        py.detach(|| images::has_placeholders(&transcript))
    }

    fn __repr__(&self) -> String {
        format!("<ImageCodec for {}>", self.agent)
    }
}

/// An image that was lifted out of a transcript.
#[pyclass(frozen, module = "retell_fast")]
pub struct Asset {
    name: String,
    media_type: String,
    data: Py<PyBytes>,
}

#[pymethods]
impl Asset {
    #[new]
    fn new(name: String, media_type: String, data: Bound<'_, PyBytes>) -> Self {
        Self { name, media_type, data: data.unbind() }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn media_type(&self) -> &str {
        &self.media_type
    }

    #[getter]
    fn data(&self, py: Python<'_>) -> Py<PyBytes> {
        self.data.clone_ref(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.name == other.name
                && self.media_type == other.media_type
                && self.data.as_bytes(py) == other.data.as_bytes(py)
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<Asset {} of {} bytes>", self.name, self.data.as_bytes(py).len())
    }
}

fn form_of(py: Python<'_>, format: &str) -> PyResult<PlaceholderForm> {
    PlaceholderForm::named(format).map_err(|error| to_python(py, &error))
}

/// Lifts the images of a file or a folder into a folder of assets.
#[pyfunction]
#[pyo3(signature = (path, out, assets_dir, *, max_image_bytes=images::DEFAULT_CAP, in_place=false, dry_run=false, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords to the caller")]
pub fn externalize(
    py: Python<'_>,
    path: PathBuf,
    out: Option<PathBuf>,
    assets_dir: PathBuf,
    max_image_bytes: usize,
    in_place: bool,
    dry_run: bool,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ImageReport> {
    let threads = number_of_threads(py, threads)?;
    let options = FileOptions { cap: max_image_bytes, in_place, dry_run, threads, ..FileOptions::default() };
    watched_at_once(py, progress.as_ref(), |progress| {
        images::extract_files(&path, out.as_deref(), &assets_dir, &options, progress)
    })
    .map(ImageReport::of_all)
}

/// Puts the images of a file or a folder back.
#[pyfunction]
#[pyo3(signature = (path, out, assets_dir, *, format="retell", allow_missing=false, in_place=false, dry_run=false, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords to the caller")]
pub fn restore(
    py: Python<'_>,
    path: PathBuf,
    out: Option<PathBuf>,
    assets_dir: PathBuf,
    format: &str,
    allow_missing: bool,
    in_place: bool,
    dry_run: bool,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ImageReport> {
    let (form, threads) = (form_of(py, format)?, number_of_threads(py, threads)?);
    let options = FileOptions { form, allow_missing, in_place, dry_run, threads, ..FileOptions::default() };
    watched_at_once(py, progress.as_ref(), |progress| {
        images::restore_files(&path, out.as_deref(), &assets_dir, &options, progress)
    })
    .map(ImageReport::of_all)
}

/// Counts the images of a file, a folder, or several. Reads only.
#[pyfunction]
#[pyo3(signature = (path, *, max_image_bytes=images::DEFAULT_CAP, threads=None, progress=None))]
pub fn list_images(
    py: Python<'_>,
    path: &Bound<'_, PyAny>,
    max_image_bytes: usize,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ImageReport> {
    let paths = paths_of(path)?;
    let options =
        FileOptions { cap: max_image_bytes, threads: number_of_threads(py, threads)?, ..FileOptions::default() };
    watched_at_once(py, progress.as_ref(), |progress| images::list_files(&paths, &options, progress))
        .map(ImageReport::of_all)
}

/// One path, or several.
pub fn paths_of(paths: &Bound<'_, PyAny>) -> PyResult<Vec<PathBuf>> {
    match paths.extract::<PathBuf>() {
        Ok(path) => Ok(vec![path]),
        Err(_) if paths.is_instance_of::<PyList>() || paths.is_instance_of::<PyTuple>() => paths.extract(),
        Err(error) => paths.extract().map_err(|_| error),
    }
}

/// What was done with images.
#[pyclass(frozen, module = "retell_fast")]
pub struct ImageReport {
    all: Arc<images::ImageReports>,
    /// The place of the one file that it is about; all together when `None`.
    file: Option<usize>,
}

impl ImageReport {
    fn of_all(all: images::ImageReports) -> Self {
        Self { all: Arc::new(all), file: None }
    }

    fn core(&self) -> &images::ImageReport {
        self.file.map_or(&self.all.total, |file| &self.all.files[file].1)
    }
}

#[pymethods]
impl ImageReport {
    /// The report of each file, with its path; empty in that of one file.
    #[getter]
    fn by_file(&self) -> Vec<(&OsStr, Self)> {
        let files = if self.file.is_none() { &self.all.files[..] } else { &[] };
        let paths = files.iter().map(|(path, _)| path.as_os_str());
        paths.enumerate().map(|(file, path)| (path, Self { all: self.all.clone(), file: Some(file) })).collect()
    }

    #[getter]
    fn files(&self) -> u64 {
        self.core().files
    }

    #[getter]
    fn images(&self) -> u64 {
        self.core().images
    }

    #[getter]
    fn distinct(&self) -> u64 {
        self.core().distinct()
    }

    #[getter]
    fn duplicates(&self) -> u64 {
        self.core().duplicates()
    }

    #[getter]
    fn bytes_before(&self) -> u64 {
        self.core().bytes_before
    }

    #[getter]
    fn bytes_after(&self) -> u64 {
        self.core().bytes_after
    }

    #[getter]
    fn image_bytes(&self) -> u64 {
        self.core().image_bytes
    }

    #[getter]
    fn left_inline(&self) -> BTreeMap<&'static str, u64> {
        self.core().left_inline.iter().map(|(reason, &count)| (reason.into(), count)).collect()
    }

    #[getter]
    fn left_inline_in_words(&self) -> String {
        self.core().left_inline_in_words()
    }

    #[getter]
    fn missing(&self) -> Vec<&str> {
        self.core().missing.iter().map(String::as_str).collect()
    }

    #[getter]
    fn media_types(&self) -> BTreeMap<&'static str, u64> {
        self.core().media_types.clone()
    }

    #[getter]
    fn skipped(&self) -> Vec<String> {
        self.core().skipped.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Gives all of the above as a dictionary that JSON can hold.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        to_dict(py, self.core())
    }

    fn __repr__(&self) -> String {
        format!("<ImageReport {} images in {} files>", self.core().images, self.core().files)
    }
}

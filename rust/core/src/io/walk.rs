//! What lies below a folder. Links to folders are followed, and each real folder is looked into once: a link may lead
//! round in a circle, or several to one place.
//!
//! ```text
//! walk the real tree below the root; put links to folders aside
//! for each link aside: a folder that was seen is left, any other is walked like a root, over the levels that are left,
//! and its entries are told by the link's path
//! ```
//! Links come last, so that a folder which lies in the tree itself is told by its own path.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, IntoIter, WalkDir};

/// The names of all that lies directly in `folder`, in no order. Nothing but the folder is looked at: to ask the system
/// about every session in one takes longer than to read one of them.
///
/// # Errors
/// When there is no such folder, or it cannot be looked into.
pub fn names_in(folder: &Path) -> io::Result<impl Iterator<Item = OsString>> {
    Ok(fs::read_dir(folder)?.flatten().map(|entry| entry.file_name()))
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder, which is looked into next where the levels allow it.
    Folder,
    /// A folder that is not looked into: it was already, or is to be left out.
    LeftFolder,
    /// A file.
    File,
    /// A link to a file.
    LinkedFile,
    /// A pipe, a socket, a device, a link to one of them or to nothing.
    Other,
}

/// What lies below a folder.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path, over the links that lead to it.
    pub path: PathBuf,
    /// Its path without them; a link's own where it is a linked file.
    pub real: PathBuf,
    /// How many folders lie between the root and it.
    pub level: usize,
    /// What it is.
    pub kind: Kind,
}

/// A folder or an entry of one that could not be looked at.
#[derive(Debug)]
pub struct Trouble {
    /// Which.
    pub path: PathBuf,
    /// What was the matter.
    pub error: io::Error,
}

/// Walks through folders, and through each once, however many roots and links lead there.
#[derive(Debug, Default)]
pub struct Walk {
    seen: HashSet<PathBuf>,
}

impl Walk {
    /// Everything below `root`, with at most `levels` levels of folders below it, in the order of the names. Folders
    /// for which `leave_out` says so are told and not looked into. A root that was seen before holds nothing.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn below<'w>(
        &'w mut self,
        root: &Path,
        levels: usize,
        leave_out: &'w dyn Fn(&Entry) -> bool,
    ) -> io::Result<Below<'w>> {
        let tree = Tree { path: root.to_owned(), real: fs::canonicalize(root)?, level: 0, levels };
        let mut below = Below { seen: &mut self.seen, leave_out, aside: VecDeque::new(), current: None };
        if below.seen.insert(tree.real.clone()) {
            below.current = Some(tree.walk());
        }
        Ok(below)
    }
}

/// A real tree of folders.
struct Tree {
    path: PathBuf,
    real: PathBuf,
    /// How many folders lie between the root of the walk and what lies in this one.
    level: usize,
    /// Levels of folders below it that are looked into.
    levels: usize,
}

impl Tree {
    fn walk(self) -> (Self, IntoIter) {
        let walk = WalkDir::new(&self.real).min_depth(1).max_depth(self.levels.saturating_add(1)).sort_by_file_name();
        (self, walk.into_iter())
    }

    /// The path, over links, of what really lies at `real`.
    fn path_of(&self, real: &Path) -> PathBuf {
        real.strip_prefix(&self.real).map_or_else(|_| real.to_owned(), |below| self.path.join(below))
    }
}

/// The entries below a folder.
pub struct Below<'w> {
    seen: &'w mut HashSet<PathBuf>,
    leave_out: &'w dyn Fn(&Entry) -> bool,
    /// Linked folders, whose turn comes later.
    aside: VecDeque<Tree>,
    current: Option<(Tree, IntoIter)>,
}

impl Iterator for Below<'_> {
    type Item = Result<Entry, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((tree, walk)) = &mut self.current else {
                return self.next_linked();
            };
            match walk.next() {
                None => self.current = None,
                Some(Err(error)) => {
                    let path = error.path().map_or_else(|| tree.path.clone(), |path| tree.path_of(path));
                    let error = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                    return Some(Err(Trouble { path, error }));
                }
                Some(Ok(found)) => {
                    if let Some(told) = self.entry(&found) {
                        return Some(told);
                    }
                }
            }
        }
    }
}

impl Below<'_> {
    /// Begins with the next linked folder.
    fn next_linked(&mut self) -> Option<Result<Entry, Trouble>> {
        let tree = self.aside.pop_front()?;
        let is_new = self.seen.insert(tree.real.clone());
        let kind = if is_new { Kind::Folder } else { Kind::LeftFolder };
        let entry = Entry { path: tree.path.clone(), real: tree.real.clone(), level: tree.level - 1, kind };
        self.current = is_new.then(|| tree.walk());
        Some(Ok(entry))
    }

    /// What is told of an entry now; nothing of a link whose turn comes later.
    fn entry(&mut self, found: &DirEntry) -> Option<Result<Entry, Trouble>> {
        let (tree, walk) = self.current.as_mut()?;
        let level = tree.level + found.depth() - 1;
        let (path, real) = (tree.path_of(found.path()), found.path().to_owned());
        let mut entry = Entry { path, real, level, kind: Kind::Other };
        let is_link = found.path_is_symlink();
        // Where a link leads to nothing, it is no folder and no file.
        let (is_folder, is_file) = if is_link {
            fs::metadata(found.path()).map_or((false, false), |target| (target.is_dir(), target.is_file()))
        } else {
            (found.file_type().is_dir(), found.file_type().is_file())
        };
        if is_file {
            entry.kind = if is_link { Kind::LinkedFile } else { Kind::File };
        }
        if !is_folder {
            return Some(Ok(entry));
        }
        if is_link {
            match fs::canonicalize(found.path()) {
                Ok(real) => entry.real = real,
                Err(error) => return Some(Err(Trouble { path: entry.path, error })),
            }
        }
        entry.kind = Kind::Folder;
        let is_looked_into = found.depth() <= tree.levels;
        if (self.leave_out)(&entry) {
            entry.kind = Kind::LeftFolder;
            if !is_link && is_looked_into {
                walk.skip_current_dir();
            }
        } else if is_link && is_looked_into {
            let (path, real, levels) = (entry.path, entry.real, tree.levels - found.depth());
            self.aside.push_back(Tree { path, real, level: level + 1, levels });
            return None;
        } else if is_looked_into && !self.seen.insert(entry.real.clone()) {
            entry.kind = Kind::LeftFolder;
            walk.skip_current_dir();
        }
        Some(Ok(entry))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn put(root: &Path, file: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    fn told(walk: &mut Walk, root: &Path, levels: usize) -> Vec<(String, usize, Kind)> {
        let leave_out = |entry: &Entry| entry.path.ends_with("left");
        let entries = walk.below(root, levels, &leave_out).unwrap().map(Result::unwrap);
        let name = |entry: &Entry| entry.path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        entries.map(|entry| (name(&entry), entry.level, entry.kind)).collect()
    }

    #[test]
    fn links_are_followed_and_every_folder_is_looked_into_once() {
        let place = tempfile::tempdir().unwrap();
        let (root, far) = (place.path().join("root"), place.path().join("far"));
        for file in ["a/1", "a/b/2", "left/3"] {
            put(&root, file);
        }
        put(&far, "c/4");
        symlink(&root, root.join("a/round")).unwrap();
        symlink(&far, root.join("away")).unwrap();
        symlink(far.join("c"), root.join("away-too")).unwrap();
        symlink(root.join("a/b/2"), root.join("file")).unwrap();
        symlink(root.join("gone"), root.join("nothing")).unwrap();
        let mut walk = Walk::default();
        let found = told(&mut walk, &root, 9);
        let expected = [
            ("a", 0, Kind::Folder),
            ("a/1", 1, Kind::File),
            ("a/b", 1, Kind::Folder),
            ("a/b/2", 2, Kind::File),
            ("file", 0, Kind::LinkedFile),
            ("left", 0, Kind::LeftFolder),
            ("nothing", 0, Kind::Other),
            ("a/round", 1, Kind::LeftFolder),
            ("away", 0, Kind::Folder),
            ("away/c", 1, Kind::Folder),
            ("away/c/4", 2, Kind::File),
            ("away-too", 0, Kind::LeftFolder),
        ];
        assert_eq!(found, expected.map(|(path, level, kind)| (path.to_owned(), level, kind)));
        assert_eq!(told(&mut walk, &far, 9), []);
    }

    #[test]
    fn levels_are_counted_over_links() {
        let place = tempfile::tempdir().unwrap();
        let (root, far) = (place.path().join("root"), place.path().join("far"));
        put(&root, "1/2/3/deep");
        put(&far, "2/3/deep");
        symlink(&far, root.join("l")).unwrap();
        let found = told(&mut Walk::default(), &root, 2);
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["1", "1/2", "1/2/3", "l", "l/2", "l/2/3"]);
    }
}

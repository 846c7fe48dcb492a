"""The compiled part of retell_fast. Import these names from `retell_fast`, which re-exports all of them."""

import datetime
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, final, overload, type_check_only

__all__ = [
    "AmbiguousSessionError",
    "Asset",
    "Conversation",
    "DamagedInputWarning",
    "Event",
    "Events",
    "ImageCodec",
    "ImageReport",
    "ImageVerificationError",
    "InvalidInputError",
    "MissingAssetError",
    "MissingAssetWarning",
    "NoConversationError",
    "Preview",
    "RetellError",
    "RetellWarning",
    "Screenshot",
    "SessionNotFoundError",
    "SubagentRef",
    "UnknownEntryTypeError",
    "UnknownEntryTypeWarning",
    "__version__",
    "codec_for",
    "discover",
    "externalize",
    "list_images",
    "parse",
    "restore",
    "types",
]

__version__: str
"""The version of the package, such as "0.1.0"."""

@type_check_only
class _Readable(Protocol):
    """Anything that gives bytes: an open binary file, a socket file, a decompressor."""

    def read(self, size: int, /) -> bytes | bytearray | memoryview: ...

def parse(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | _Readable,
    *,
    agent: str | None = None,
    include_subagents: bool = False,
    strict: bool = False,
    allow_unknown: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Conversation:
    """Reads one session to its end and gives the finished conversation.

    Memory grows with what was said, not with the size of the file. Other Python threads run meanwhile.

    Args:
        source: a path; "-" for standard input; a session id or the beginning of one, in letters of either
            case, looked up below `$CLAUDE_CONFIG_DIR` or `~/.claude`, and `$CODEX_HOME` or
            `~/.codex`; the bytes of a session file; or an object whose `read(size)` gives bytes.
            zstd and gzip are decompressed while reading, whatever the name.
        agent: the program that wrote the session: "claude-code" or "codex". Recognised from the records if
            None.
        include_subagents: put what each subagent said under the `SubagentRef` that called it, to any depth.
        strict: raise `UnknownEntryTypeError` at an entry type this version does not know.
        allow_unknown: pass over unknown entry types without a warning; the manifest still counts them.
        threads: how many may read; None stands for `$RETELL_THREADS`, or as many as there are cores. What
            comes out is the same.
        progress: called about twenty times a second with the bytes read and the bytes there are (None when
            that is not known, as for standard input), and once at the end with all of them twice. What it
            raises ends the parse and comes out here.

    Returns:
        The conversation: its events, its manifest, and `write` to store both.

    Raises:
        SessionNotFoundError: no session has that id; the hint lists what is near.
        AmbiguousSessionError: several sessions have ids that begin so; the hint lists them.
        InvalidInputError: the input is no transcript: it is empty, or not text.
        NoConversationError: there are entries, but nobody says anything in them.
        UnknownEntryTypeError: with `strict`, an entry type is not known.
        FileNotFoundError, IsADirectoryError, PermissionError, OSError: the system could not read the file, or
            it is compressed and damaged.
        TypeError: `source` is nothing that can be read, or `progress` cannot be called.
        ValueError: no such agent, `strict` and `allow_unknown` together, or `threads` or `$RETELL_THREADS` is
            no number from 1 on.

    Warns:
        UnknownEntryTypeWarning: entry types this version does not know were passed over.
        DamagedInputWarning: lines were damaged, or images could not be extracted.
    """

def discover(
    root: str | os.PathLike[str] | None = None,
    *,
    limit: int | None = None,
    project: str | None = None,
    since: str | datetime.date | datetime.datetime | None = None,
    agent: str | None = None,
) -> list[Preview]:
    """Lists sessions with what is needed to choose one, the most recently changed first.

    Sessions that are no conversation with the human are left out: subagents, reviews, and what an agent does
    for itself. `parse` reads them.

    Args:
        root: an agent's home (the folder that holds `projects/`, or `sessions/`), or any folder with session
            files in it or up to four folders below it. None stands for `$CLAUDE_CONFIG_DIR` or `~/.claude`,
            and `$CODEX_HOME` or `~/.codex`; the variables may be comma lists.
        limit: give at most this many. None gives all.
        project: only sessions whose project path contains this text.
        since: only sessions changed on this day or later, as an ISO 8601 date or time.
        agent: only sessions of this agent: "claude-code" or "codex".

    Raises:
        FileNotFoundError, PermissionError, OSError: the system could not read the folder.
        TypeError: `since` is neither a date nor text.
        ValueError: the text of `since` is not a date, `limit` is negative, there is no such agent, or
            `$RETELL_THREADS` is no number from 1 on.
    """

def types(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    agent: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Counts the types of the entries in transcripts, and tells which this release does not know. Only reads.

    What it gives can be published: it holds names of types, versions and numbers, and no words, paths or
    project names. A type or a version that does not look like one is counted as "(other)", or left out.
    Damage inside of what was said is not found here, for words are not read.

    Args:
        paths: a transcript or a folder, or a list of them. Of an agent's home, the sessions and their
            subagents are read; of any other folder, all that is called `*.jsonl` or `rollout-*.json`, with
            `.zst` or `.gz` behind it too, however deep, but for `tool-results/`. Links to folders are
            followed, each real folder once. None stands for the homes of all agents, as for `discover`.
        agent: the program that wrote them: "claude-code" or "codex". Recognised from the records if None.
        threads: as for `parse`.
        progress: called now and then with the bytes done and the bytes there are. What it raises ends it all.

    Returns:
        A dictionary that JSON can hold: `release`, the version of this package; `files`, `lines` and
        (decompressed) `bytes` that were read; `agents`, by name, each with `files`, `bytes`, `lines`,
        `versions` and `types`; `damage`, how many pieces are damaged, by reason; `incomplete_tails`, how many
        files end in the middle of an entry; `unreadable`, how many files and folders could not be read, by
        reason, or by what they are instead of transcripts. A type has `unknown`, `count`, `bytes`, the
        number of `files` that hold it, and the `versions` that these files name. What is nested in an entry
        is told as "attachment/file", "system/api_error" or "event_msg/token_count"; of the first two only
        the outer type can be unknown. Files that no record tells the agent of are "(unrecognised)".

    Raises:
        FileNotFoundError, PermissionError, OSError: one of the paths is not there. What cannot be read is
            counted.
        ValueError: no such agent, `paths` is an empty list, or `threads` or `$RETELL_THREADS` is no number
            from 1 on.
    """

@final
class Conversation:
    """A whole session: who said what, in order, and what is known of it."""

    @property
    def events(self) -> Events:
        """What was said, in the order of the file."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What is known of the whole conversation, as in manifest.json (see `schema("manifest")`).

        It is one dictionary, made when first asked for. Changing it does not change what `write` writes.
        """

    @property
    def assets(self) -> list[str]:
        """The file names of the screenshots that `write` puts into `assets/`."""

    @property
    def attention(self) -> bool:
        """True when something in the input needs a look: unknown entry types, damage, lost images."""

    @property
    def findings(self) -> list[str]:
        """What a person should have a look at, in words, one line each, the most important first.

        Unknown entry types unless they were allowed, possible secrets, files that could not be read, images
        that were not extracted, damaged lines. The manifest has all of it as data.
        """

    @property
    def notes(self) -> list[str]:
        """What is good to know and needs no action, in words, one line each."""

    def write(self, directory: str | os.PathLike[str]) -> None:
        """Writes `events.json`, `manifest.json` and `assets/` into a folder, which is made if need be.

        Each file is written beside its place and then renamed, so none is ever there in part. Folders get
        mode 0700 and files 0600, for transcripts are private. What a former run wrote is replaced; nothing
        else in the folder is touched.

        Args:
            directory: the folder to write into.

        Raises:
            FileExistsError, NotADirectoryError: there is a file in the way, such as an events.json that no
                former run wrote.
            PermissionError, OSError: the system could not write; `filename` tells what.
        """

@final
class Events(Sequence[Event]):
    """The events of a conversation: a sequence that makes each `Event` when it is asked for."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> Event: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Event]: ...
    def __iter__(self) -> Iterator[Event]: ...
    def index(self, value: object, start: int = 0, stop: int | None = None, /) -> int:
        """Gives the position of the first event that equals `value`; raises ValueError when there is none."""

    def count(self, value: object, /) -> int:
        """Counts the events that equal `value`."""

@final
class Event:
    """One thing that was said, by the human or the assistant."""

    @property
    def index(self) -> int:
        """The position in the conversation, from 0."""

    @property
    def timestamp(self) -> str:
        """When, in ISO 8601 as the transcript has it; "" when it has none."""

    @property
    def role(self) -> Literal["user", "assistant"]:
        """Who said it."""

    @property
    def says(self) -> str:
        """The words. Can be "" when there are only thoughts, tools or screenshots."""

    @property
    def thinks(self) -> str:
        """What the assistant thought before it spoke, or ""."""

    @property
    def tools(self) -> list[str]:
        """The names of the tools the assistant reached for, in order."""

    @property
    def session_break(self) -> bool:
        """True when the story breaks before this event; `boundary` says how."""

    @property
    def boundary(self) -> list[Literal["session_change", "continuation", "compaction", "clear"]]:
        """How the story breaks before this event; empty when it does not."""

    @property
    def continuation_summary(self) -> str:
        """The summary that carries a former conversation on, on the user event that opens it; else ""."""

    @property
    def duration_ms(self) -> int | None:
        """How long the turn took in milliseconds, on its last assistant event, where that was measured."""

    @property
    def screenshots(self) -> list[Screenshot]:
        """The images a tool gave back or the human pasted."""

    @property
    def subagent_refs(self) -> list[SubagentRef]:
        """The subagents this event called."""

    @property
    def interrupted(self) -> bool:
        """True when the human stopped the assistant here."""

    @property
    def rejected(self) -> bool:
        """True when the human turned down a tool call of this event, and said nothing to it."""

    @property
    def rolled_back(self) -> bool:
        """True when the turn this belongs to was taken back later: the assistant no longer knew of it."""

    @property
    def source(self) -> str | None:
        """Where the words come from, if not the prompt; else None.

        "command", "bash", "memory", "queued", "answer" to questions of the assistant, "rejection" of a call,
        or "plan": the prompt that the agent wrote for the human from a plan, or what they said to it.
        """

    @property
    def plan(self) -> str:
        """The plan that the assistant shows here, or ""."""

    @property
    def questions(self) -> list[str]:
        """The questions of the assistant that the words answer, in the same order."""

    @property
    def live(self) -> bool:
        """False on a branch that was left: a prompt was edited, an answer tried again, a turn taken back."""

    @property
    def uuid(self) -> str:
        """The id of the entry, or ""."""

    @property
    def message_id(self) -> str:
        """What the parts of one answer of the assistant have in common, or ""."""

    @property
    def line(self) -> int:
        """The number of the line in the session file, from 1."""

    @property
    def offset(self) -> int:
        """Where the entry begins, in bytes from the start of the (decompressed) file."""

    @property
    def length(self) -> int:
        """How long the entry is, in bytes."""

    def to_dict(self) -> dict[str, Any]:
        """Gives the event as it stands in events.json: fields that do not apply are left out."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # events compare by value

@final
class Screenshot:
    """An image that belongs to an event."""

    @property
    def filename(self) -> str:
        """Its name in the folder `assets/`."""

    @property
    def description(self) -> str:
        """The tool that made it and what of, or that the human pasted it."""

    @property
    def media_type(self) -> str:
        """What the bytes are, such as "image/png", whatever the transcript said."""

@final
class SubagentRef:
    """A call to a subagent, and what is known of the one that answered."""

    @property
    def tool_use_id(self) -> str:
        """The id of the call."""

    @property
    def id(self) -> str | None:
        """The id of the subagent: what stands between `agent-` and `.jsonl`; None when none was found."""

    @property
    def description(self) -> str:
        """The task in a few words."""

    @property
    def prompt(self) -> str:
        """The first 300 characters of the task."""

    @property
    def total_tokens(self) -> int | None:
        """Tokens used, as the agent's program counted them."""

    @property
    def tool_uses(self) -> int | None:
        """How often it used a tool."""

    @property
    def duration_ms(self) -> int | None:
        """How long it worked, in milliseconds."""

    @property
    def signal_tokens_estimate(self) -> int | None:
        """Tokens in what it said and thought, at four bytes each; None when its file is not there."""

    @property
    def linked_by(self) -> str | None:
        """The evidence that ties the call to the subagent.

        "meta", "parent", "result", "text", "progress", "team", "workflow" or "prompt".
        """

    @property
    def events(self) -> list[Event]:
        """What the subagent said. Empty unless parsed with `include_subagents`."""

@final
class Preview:
    """One session as `discover` found it."""

    @property
    def path(self) -> str:
        """The session file."""

    @property
    def session_id(self) -> str:
        """The id `parse` takes."""

    @property
    def agent(self) -> str:
        """The program that wrote it, such as "claude-code"."""

    @property
    def modified(self) -> float:
        """When the file was last changed, in seconds since 1970 (UTC)."""

    @property
    def size(self) -> int:
        """The size of the file in bytes."""

    @property
    def title(self) -> str | None:
        """The title the human or the agent gave it."""

    @property
    def project_path(self) -> str | None:
        """The folder the agent worked in, from the lines themselves."""

    @property
    def human_messages(self) -> int:
        """How often the human said something."""

    @property
    def assistant_messages(self) -> int:
        """How often the assistant said something."""

    @property
    def sessions(self) -> int:
        """How many session ids the file holds."""

    @property
    def subagents(self) -> int:
        """How many subagents were called."""

    @property
    def tools(self) -> dict[str, int]:
        """How often each tool was used, the most used first."""

    @property
    def first_words(self) -> str:
        """How the human began."""

    @property
    def last_words(self) -> str:
        """What the human said last."""

    @property
    def continuation(self) -> bool:
        """True when the session carries a former one on."""

    @property
    def score(self) -> int:
        """How good a story the session promises: the sum of the points in `reasons`, from -5 to 9."""

    @property
    def reasons(self) -> list[str]:
        """Why it has that score, each with its points, such as "+2 3 subagents"."""

    def to_dict(self) -> dict[str, Any]:
        """Gives all of the above as a dictionary that JSON can hold."""

def codec_for(agent: str) -> ImageCodec | None:
    """Gives the image codec for an agent's transcripts, or None for an agent that keeps no images inline.

    Args:
        agent: such as "claude-code", "codex", "pi", "openclaw", "factory-droid", "gemini-cli", "qwen-code".
    """

def externalize(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    assets_dir: str | os.PathLike[str],
    *,
    max_image_bytes: int = ...,
    in_place: bool = False,
    dry_run: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> ImageReport:
    """Moves the images of a transcript, or of a folder of them, into files, and leaves short placeholders.

    `restore` gives back the same bytes; that is checked before anything is renamed to its place. Memory is
    bounded by the longest image. Of a file that grows meanwhile, what was there at the start up to the last
    whole line is looked at, and the rest is copied. Folders get mode 0700 and files 0600.

    Args:
        path: a transcript, or a folder; what is below it is handled side by side. Links to folders are
            followed, each real folder once; links to files are passed over.
        out: the file or folder to write; None with `in_place` or `dry_run`.
        assets_dir: the folder the images go to, each under a name made of its hash, so a store can be shared.
        max_image_bytes: larger images stay, and are counted in `left_inline`; 64 MiB by default.
        in_place: write the result over the original.
        dry_run: write nothing, and tell what would be done.
        threads: how many may handle the files of a folder; as for `parse`.
        progress: called now and then with the bytes done and the bytes there are. What it raises ends it all.

    Raises:
        ImageVerificationError: what was written would not restore to the same bytes; nothing was changed.
        RetellError: with `in_place`, the file is a link, or was changed within the last minute.
        FileNotFoundError, PermissionError, OSError: the system could not read or write.
        ValueError: `out` does not fit `in_place` and `dry_run`.
    """

def restore(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    assets_dir: str | os.PathLike[str],
    *,
    format: Literal["retell", "entire"] = "retell",  # noqa: A002 - named as in the command
    allow_missing: bool = False,
    in_place: bool = False,
    dry_run: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> ImageReport:
    """Puts the images back into a transcript, or a folder of them: the opposite of `externalize`.

    Args:
        path: what `externalize` wrote.
        out: the file or folder to write; None with `in_place` or `dry_run`.
        assets_dir: the folder that holds the images. Each is checked against the hash in its name.
        format: whose placeholders to read: "retell", or "entire" for those of that tool.
        allow_missing: leave the placeholders of missing images where they are, and list them in `missing`.
        in_place: write the result over what was read.
        dry_run: write nothing, and tell what would be done.
        threads: how many may handle the files of a folder; as for `parse`.
        progress: called now and then with the bytes done and the bytes there are. What it raises ends it all.

    Raises:
        MissingAssetError: images are missing, or are not what their names say; nothing was written.
        RetellError: with `in_place`, the file is a link, or was changed within the last minute.
        FileNotFoundError, PermissionError, OSError: the system could not read or write.
        ValueError: no such format, or `out` does not fit `in_place` and `dry_run`.
    """

def list_images(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    max_image_bytes: int = ...,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> ImageReport:
    """Counts the images that `externalize` would lift. Only reads, and each file once.

    What stands in several files is one distinct image in the report; `by_file` of it has each file's own.

    Args:
        path: a transcript or a folder, or several of them.
        max_image_bytes: as for `externalize`.
        threads: as for `externalize`.
        progress: as for `externalize`.

    Raises:
        FileNotFoundError, PermissionError, OSError: the system could not read.
    """

@final
class ImageCodec:
    """Takes images out of the bytes of a transcript, and puts them back: `codec_for` gives one."""

    @property
    def agent(self) -> str:
        """The agent it is for."""

    def extract_images(self, transcript: bytes, *, max_image_bytes: int = ...) -> tuple[bytes, list[Asset]]:
        """Gives the transcript with a placeholder for each image, and the images.

        `reinject_images` gives back the same bytes, whatever the transcript holds. Where there is nothing to
        lift, and no text that looks like a placeholder, the transcript comes back as it was.

        Args:
            transcript: the bytes of a transcript, or any others.
            max_image_bytes: images with more bytes stay where they are; 64 MiB by default.

        Returns:
            The rewritten transcript, and each distinct image once, in the order of first appearance.
        """

    def reinject_images(
        self,
        transcript: bytes,
        lookup: Callable[[str], bytes | None] | Mapping[str, bytes],
        *,
        format: Literal["retell", "entire"] = "retell",  # noqa: A002 - named as in the command
    ) -> bytes:
        """Puts the images back: the opposite of `extract_images`.

        Args:
            transcript: what `extract_images` gave.
            lookup: gives the bytes of an image by its name (`Asset.name`), or None where there are none; or a
                mapping from names to bytes. What it raises comes out here.
            format: whose placeholders to read: "retell", or "entire" for those of that tool.

        Warns:
            MissingAssetWarning: images were not found, and their placeholders are still there.
        """

    def has_placeholders(self, transcript: bytes) -> bool:
        """Says whether there are placeholders to put images back for: whole ones, not text that begins so."""

@final
class Asset:
    """An image that was taken out of a transcript."""

    def __new__(cls, name: str, media_type: str, data: bytes) -> Asset: ...
    @property
    def name(self) -> str:
        """Its file name: "img-", the SHA-256 of the bytes in 64 hexadecimal digits, ".", the extension."""

    @property
    def media_type(self) -> str:
        """What the bytes are, such as "image/png", whatever the transcript said."""

    @property
    def data(self) -> bytes:
        """The image."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]  # assets compare by value

@final
class ImageReport:
    """What was found and done, over all files together."""

    @property
    def by_file(self) -> list[tuple[str, ImageReport]]:
        """The report of each file, with its path: those of a folder by name. Empty in such a report."""

    @property
    def files(self) -> int:
        """How many files were read."""

    @property
    def images(self) -> int:
        """How many images there are, each counted as often as it occurs."""

    @property
    def distinct(self) -> int:
        """How many of them differ: the number of files they make."""

    @property
    def duplicates(self) -> int:
        """How many are copies of another: `images` less `distinct`."""

    @property
    def bytes_before(self) -> int:
        """The size of what was read, in bytes, without the images' files."""

    @property
    def bytes_after(self) -> int:
        """The size of what was written, or would be, in bytes, without the images' files."""

    @property
    def image_bytes(self) -> int:
        """How many bytes of the transcripts the images take as base64."""

    @property
    def left_inline(self) -> dict[Literal["not_canonical", "not_an_image", "too_large"], int]:
        """How many runs of base64 stand where images do and were not lifted, by the reason."""

    @property
    def left_inline_in_words(self) -> str:
        """The same for a person: "3 left inline (2 no image, 1 too large)"."""

    @property
    def missing(self) -> list[str]:
        """The names of the images that were not there; their placeholders were left."""

    @property
    def media_types(self) -> dict[str, int]:
        """How many images there are of each media type."""

    @property
    def skipped(self) -> list[str]:
        """The paths in a folder that were passed over, such as links to files."""

    def to_dict(self) -> dict[str, Any]:
        """Gives all of the above but `by_file` and the words as a dictionary that JSON can hold."""

class RetellError(Exception):
    """The base of the errors of this package."""

    hint: str | None
    """What to do about it, or None."""

class UnknownEntryTypeError(RetellError):
    """With `strict`: the session holds an entry type that this version does not know."""

class NoConversationError(RetellError):
    """The input holds entries, but nobody says anything; the message says which types it holds."""

class SessionNotFoundError(RetellError):
    """No session has an id that begins so."""

class AmbiguousSessionError(RetellError):
    """Several sessions have ids that begin so."""

class InvalidInputError(RetellError):
    """The input is no transcript: it is empty, or not text."""

class MissingAssetError(RetellError):
    """Images that a transcript has placeholders for are missing, or are not what their names say."""

    missing: list[str]
    """The names of those images."""

class ImageVerificationError(RetellError):
    """What was written would not restore to the same bytes; the original was not changed."""

class RetellWarning(UserWarning):
    """The base of the warnings of this package."""

class UnknownEntryTypeWarning(RetellWarning):
    """Entry types this version does not know were passed over; the manifest counts them."""

class DamagedInputWarning(RetellWarning):
    """Lines were damaged or images could not be extracted; the manifest says where."""

class MissingAssetWarning(RetellWarning):
    """Images were not found, and their placeholders are still in the transcript."""

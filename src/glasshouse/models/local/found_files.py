"""`ModelFile`: a model in files of this machine; and where such files are found: a folder of our own, and the caches of
Hugging Face, LM Studio and Ollama.

Always holds: nothing is written, of a file only the header is read, and every walk is bounded. A model that is split into
several files is one model. What is found does not depend on the order in which a folder lists its files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from glasshouse.errors import Refused
from glasshouse.models.installed import Installed, in_words
from glasshouse.models.local.gguf import BadHeader, Header, header_read

parameters_b_min: Final = 0.4
"""A smaller model, in billions of parameters, is not chosen by itself: SmolLM2 with 135 million recites its prompt or
babbles. The smallest that answered most moments had half a billion."""
entries_max: Final = 20_000
"""So many files and folders of one cache are looked at. What comes after them, in the order of their names, is not found."""
depth_max: Final = 8
"""Folders that lie deeper in a cache are not looked into."""
files_max: Final = 500
"""So many models are found at most."""
manifest_bytes_max: Final = 1024 * 1024
"""A longer manifest of Ollama is not read. Usual ones have less than 2 KB."""
block_bytes: Final = 4 * 1024 * 1024
"""So much of a file is read at once for its digest."""

SUFFIX: Final = ".gguf"
_SPLIT: Final = re.compile(r"(?P<name>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})")
_SHA256: Final = re.compile(r"(?:sha256-)?([0-9a-f]{64})")
_WEIGHTS: Final = "application/vnd.ollama.image.model"


class Stamp(NamedTuple):
    """By what a file is known to be the same, without reading it."""

    bytes: int
    changed_ns: int
    inode: int


class ModelFile(msgspec.Struct, frozen=True):
    """A model in one file, or split into several."""

    name: str
    """What it is called in commands and in ledgers: the name of its file, without folder and suffix."""
    parts: tuple[Path, ...]
    header: Header
    """Of its first part, with the parameters of all."""
    stamps: tuple[Stamp, ...]
    missing: int = 0
    """How many of its parts are not there."""
    known_sha256: str = ""
    """The digest of its only part, if it is kept under that name."""

    @property
    def bytes(self) -> int:
        """How large it is."""
        return sum([stamp.bytes for stamp in self.stamps])

    @property
    def problem(self) -> str:
        """Why it cannot play, as the second half of a sentence; empty if it can."""
        if self.missing:
            return f"has {len(self.parts)} of {len(self.parts) + self.missing} parts"
        return self.header.problem

    @property
    def why_not_chosen(self) -> str:
        """Why it is not chosen by itself; empty if it may be."""
        parameters = self.header.parameters / 1e9
        if self.problem or parameters >= parameters_b_min:
            return self.problem
        return f"is too small to play, with {in_words(parameters)} of at least {in_words(parameters_b_min)} parameters"

    def installed(self, digest: str = "") -> Installed:
        """The same as a model that a server lists."""
        return Installed(
            name=self.name,
            digest=digest or self.known_sha256,
            parameters_b=self.header.parameters / 1e9,
            quantization=self.header.quantization,
            context_tokens=self.header.context_tokens,
            bytes=self.bytes,
            unfit=self.why_not_chosen,
        )

    def has_changed(self) -> bool:
        """Whether a file was changed, replaced or removed since its header was read."""
        try:
            return self.stamps != tuple(map(_stamp_of, self.parts))
        except OSError:
            return True


def file_at(path: Path) -> ModelFile:
    """The model in a file, which may be any part of a split one. Refused if there is none."""
    try:
        return _model_of(_parts_beside(path))
    except FileNotFoundError:
        raise Refused(
            f"There is no file {path}.", "Name a GGUF file, or write `local` for the best one here."
        ) from None
    except OSError as wrong:
        reason = f"{path} cannot be read ({wrong.strerror or wrong})."
        raise Refused(reason, "Name a GGUF file that you may read.") from None
    except BadHeader as wrong:
        raise Refused(f"{path} {wrong}.", "Download it again, or name another GGUF file.") from None


def digest_of(file: ModelFile, on_bytes: Callable[[int], bool] = lambda _count: True) -> str:
    """The SHA-256 of a file; of a split one, the SHA-256 of those of its parts, one a line. `on_bytes` gets how many bytes
    were read, again and again, and says whether to go on; otherwise the digest is empty."""
    if file.known_sha256:
        return file.known_sha256
    done = 0
    digests = []
    for part in file.parts:
        digest = sha256()
        with part.open("rb") as content:
            while block := content.read(block_bytes):
                digest.update(block)
                done += len(block)
                if not on_bytes(done):
                    return ""
        digests.append(digest.hexdigest())
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()


# Where files are


def files_here(own_folder: Path, variable: Callable[[str], str], home: Path) -> list[ModelFile]:
    """Every model that is found on this machine, each once. `variable` gives the variables in which people put other
    folders."""
    candidates = [
        *_in_folder(own_folder),
        *_of_hugging_face(variable, home),
        *_of_lm_studio(home),
        *_of_ollama(variable, home),
    ]
    files: dict[str, ModelFile] = {}
    seen: set[Path] = set()
    for name, parts in candidates[:files_max]:
        try:
            real = parts[0].resolve(strict=True)
            if real not in seen:
                seen.add(real)
                file = _model_of(parts, name)
                files.setdefault(_free_name(file, files), file)
        except (OSError, BadHeader, RuntimeError):
            continue  # A link to nowhere, an unfinished download, another kind of file.
    return [msgspec.structs.replace(file, name=name) for name, file in files.items()]


def _free_name(file: ModelFile, taken: Mapping[str, ModelFile]) -> str:
    """Its name, with that of its folder if another model has it already."""
    if file.name not in taken:
        return file.name
    longer = f"{file.parts[0].parent.name}/{file.name}"
    return next(
        name
        for name in (longer, *[f"{longer}-{number}" for number in range(2, files_max + 2)])
        if name not in taken
    )


_Candidate = tuple[str, tuple[Path, ...]]
"""A name, empty for that of the file, and the parts of a model."""


def _in_folder(folder: Path) -> Iterator[_Candidate]:
    """The GGUF files under a folder: split ones once, by all their parts."""
    for path in _walk(folder):
        if path.suffix.lower() != SUFFIX:
            continue
        split = _SPLIT.fullmatch(path.stem)
        if split is None or int(split["part"]) == 1:
            yield "", _parts_beside(path)


def _of_hugging_face(variable: Callable[[str], str], home: Path) -> Iterator[_Candidate]:
    cache = Path(variable("XDG_CACHE_HOME") or home / ".cache")
    root = Path(variable("HF_HOME") or cache / "huggingface")
    for repository in _entries(Path(variable("HF_HUB_CACHE") or root / "hub")):
        if repository.name.startswith("models--"):
            # Revisions link to the same blobs; `blobs` itself has the files under names without a suffix.
            yield from _in_folder(repository / "snapshots")


def _of_lm_studio(home: Path) -> Iterator[_Candidate]:
    for folder in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield from _in_folder(folder)


def _of_ollama(variable: Callable[[str], str], home: Path) -> Iterator[_Candidate]:
    """Ollama keeps weights under their digests. Its manifests, at HOST/OWNER/MODEL/TAG, say which are whose."""
    root = Path(variable("OLLAMA_MODELS") or home / ".ollama" / "models")
    manifests = root / "manifests"
    for path in _walk(manifests):
        host, *owner, model, tag = ("", "", *path.relative_to(manifests).parts)[-4:]
        blob = _weights_in(path)
        if blob and model:
            is_usual = owner == ["library"] and host.startswith("registry.")
            name = model if is_usual else "/".join([*filter(None, (host, *owner)), model])
            yield f"{name}:{tag}", (root / "blobs" / blob,)


def _weights_in(manifest: Path) -> str:
    """The name of the blob with the weights of a manifest; empty if it has none, or several."""
    try:
        with manifest.open("rb") as content:
            layers = msgspec.json.decode(content.read(manifest_bytes_max))["layers"]
        digests = [str(layer["digest"]) for layer in layers if layer["mediaType"] == _WEIGHTS]
    except (OSError, msgspec.DecodeError, KeyError, TypeError, RecursionError):
        return ""
    blob = digests[0].replace(":", "-") if len(digests) == 1 else ""
    return blob if _SHA256.fullmatch(blob) else ""


def _walk(folder: Path) -> Iterator[Path]:
    """The files under a folder, in the order of their names. Links to folders are not followed."""
    left = entries_max
    to_visit = [(path, depth_max) for path in reversed(_entries(folder))]
    while to_visit and left:
        left -= 1
        path, depth = to_visit.pop()
        if not path.is_dir():
            yield path
        elif depth and not path.is_symlink():
            to_visit += [(inner, depth - 1) for inner in reversed(_entries(path))]


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted([Path(entry.path) for entry in islice(entries, entries_max)])
    except OSError:
        return []  # It is not there, or not for us.


# One model


def _parts_beside(path: Path) -> tuple[Path, ...]:
    """The parts of a model that are there, of which this path is one."""
    split = _SPLIT.fullmatch(path.stem)
    if split is None:
        return (path,)
    count = min(int(split["parts"]), files_max)
    parts = [
        path.with_name(f"{split['name']}-{number:05d}-of-{split['parts']}{path.suffix}")
        for number in range(1, count + 1)
    ]
    return tuple([part for part in parts if part == path or part.exists()])


def _model_of(parts: tuple[Path, ...], name: str = "") -> ModelFile:
    first = parts[0]
    split = _SPLIT.fullmatch(first.stem)
    headers = [_header_of(part, _stamp_of(part)) for part in parts]
    total = max(headers[0].parts, int(split["parts"]) if split else 1)
    parameters = sum([header.parameters for header in headers])
    tensors = sum([header.tensors for header in headers])
    kept = _SHA256.fullmatch(first.resolve().name) if len(parts) == 1 else None
    return ModelFile(
        name
        or (
            split["name"]
            if split
            else first.name[: -len(SUFFIX)]
            if first.suffix.lower() == SUFFIX
            else first.name
        ),
        parts,
        msgspec.structs.replace(headers[0], parameters=parameters, tensors=tensors),
        tuple(map(_stamp_of, parts)),
        total - len(parts),
        kept[1] if kept else "",
    )


def _stamp_of(path: Path) -> Stamp:
    facts = path.stat()
    return Stamp(facts.st_size, facts.st_mtime_ns, facts.st_ino)


@lru_cache(maxsize=files_max)
def _header_of(path: Path, _stamp: Stamp) -> Header:
    """The header of a file, read once as long as the file stays the same."""
    with path.open("rb", buffering=0) as content:
        return header_read(content.read)

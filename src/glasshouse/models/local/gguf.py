"""`Header`: what the beginning of a GGUF file says about the model in it. The weights are never read.

Pure: bytes come from a function that the caller gives. Always holds: however a file is damaged, what is raised is
`BadHeader`, and no more than `header_bytes_max` bytes of it are asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final

import msgspec

header_bytes_max: Final = 64 * 1024 * 1024
"""A longer header is refused. The largest vocabularies make headers of about 16 MB."""
chunk_bytes: Final = 256 * 1024
"""So much of a file is read at once."""
keys_max: Final = 4_096
"""A header with more fields is refused; usual ones have 20 to 60."""
tensors_max: Final = 65_536
"""A header with more tensors is refused; the largest models have a few thousand."""
kept_text_bytes_max: Final = 4_096
"""Of a longer text, such as a chat template, only the beginning is kept."""
kept_items_max: Final = 1_024
"""Of a longer list, such as a vocabulary, only the length is kept."""
dimensions_max: Final = 8
"""A tensor that claims more is refused; the format has four."""

_MAGIC: Final = b"GGUF"
_VERSIONS: Final = frozenset({2, 3})
_NUMBERS: Final[Mapping[int, struct.Struct]] = {
    kind: struct.Struct(f"<{code}")
    for kind, code in {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}.items()
}  # fmt: skip
"""Kinds of numbers by the code that the format has for them."""
_TEXT: Final = 8
_LIST: Final = 9

QUANTIZATIONS: Final[Mapping[int, str]] = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}  # fmt: skip
"""What `general.file_type` means."""
_CACHE_BYTES: Final = 2
"""One number of the cache of keys and values takes so many bytes: llama.cpp keeps 16 bits of each."""


class BadHeader(Exception):
    """The file is no model that can be read. The text says why, as the second half of a sentence."""


class ListLength(msgspec.Struct, frozen=True):
    """A list that is too long to be kept, by its length."""

    count: int


class Header(msgspec.Struct, frozen=True):
    """The fields of a header, and how many parameters its tensors have together."""

    fields: Mapping[str, Any]
    parameters: int
    tensors: int

    def of_model(self, name: str) -> Any:
        """A field of the architecture, such as `context_length`; None if there is none."""
        return self.fields.get(f"{self.architecture}.{name}")

    @property
    def architecture(self) -> str:
        """The kind of network, such as `llama`."""
        return str(self.fields.get("general.architecture", ""))

    @property
    def quantization(self) -> str:
        """How its weights are stored, such as `Q4_K_M`; empty if it does not say."""
        return QUANTIZATIONS.get(_count(self.fields.get("general.file_type"), -1), "")

    @property
    def context_tokens(self) -> int | None:
        """The longest context that it was trained for."""
        return _count(self.of_model("context_length")) or None

    @property
    def vocabulary(self) -> int:
        """How many tokens it knows."""
        tokens = self.fields.get("tokenizer.ggml.tokens")
        return tokens.count if isinstance(tokens, ListLength) else len(tokens or ())

    @property
    def parts(self) -> int:
        """How many files the model is split into."""
        return max(1, _count(self.fields.get("split.count")))

    @property
    def cache_bytes_per_token(self) -> int:
        """How much memory the keys and values of one token of the context take."""
        layers = _count(self.of_model("block_count"))
        heads = max(1, _count(self.of_model("attention.head_count"), 1))
        width = _count(self.of_model("embedding_length")) // heads
        keys = _count(self.of_model("attention.key_length")) or width
        values = _count(self.of_model("attention.value_length")) or width
        of_layers = self.of_model("attention.head_count_kv")
        if isinstance(of_layers, list):
            shared = sum(_count(count) for count in of_layers)
        else:
            shared = layers * (_count(of_layers) or heads)
        return shared * (keys + values) * _CACHE_BYTES

    @property
    def problem(self) -> str:
        """Why this is no model that can play, as the second half of a sentence; empty if it is one."""
        kind = str(self.fields.get("general.type", "model"))
        if self.architecture == "clip" or kind == "mmproj":
            return "is a projector for pictures or sound, and no model by itself"
        if kind != "model":
            return f"holds no model, but: {kind[:40]}"
        if _is_embedder(self):
            return "makes embeddings and does not write"
        if not self.tensors:
            return "has no weights"
        if not self.fields.get("tokenizer.chat_template"):
            return "has no chat template: it was not made to talk"
        return ""


def _is_embedder(header: Header) -> bool:
    is_encoder = "bert" in header.architecture or header.architecture.endswith(("encoder", "embedding"))
    return (
        is_encoder
        or header.of_model("pooling_type") is not None
        or header.of_model("attention.causal") is False
    )


def _count(value: Any, otherwise: int = 0) -> int:
    """A field that should be a number that counts something. Lists of one for each layer count with their largest."""
    if isinstance(value, list):
        return max([_count(item, otherwise) for item in value], default=otherwise)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def header_read(read: Callable[[int], bytes]) -> Header:
    """The header of a file. `read` returns the next bytes of the file, at most so many, and none at its end."""
    return _Reader(read).header()


class _Reader:
    """The bytes of a header that were read until now, and how far they are understood."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._data = bytearray()
        self._at = 0

    def header(self) -> Header:
        if self._bytes(4) != _MAGIC:
            raise BadHeader("is no GGUF file")
        version = self._number(4)
        if version not in _VERSIONS:
            raise BadHeader(f"is a GGUF file of version {version}, and only versions 2 and 3 are known")
        tensors = self._bounded(self._number(10), tensors_max, "tensors")
        keys = self._bounded(self._number(10), keys_max, "fields")
        fields: dict[str, Any] = {}
        for _ in range(keys):
            name = self._text()
            fields[name] = self._value(self._number(4))
        return Header(fields, sum(self._tensor() for _ in range(tensors)), tensors)

    def _tensor(self) -> int:
        """How many parameters the next tensor has."""
        self._skip(self._number(10))
        sizes = self._bounded(self._number(4), dimensions_max, "dimensions")
        parameters: int = prod([self._number(10) for _ in range(sizes)])
        self._skip(4 + 8)  # Its type, and where its weights are.
        return parameters

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            return self._list()
        return self._number(kind)

    def _list(self) -> Any:
        kind = self._number(4)
        count = self._number(10)
        if kind == _LIST:
            raise BadHeader("has a list of lists, which no model has")
        if count <= kept_items_max:
            return [self._value(kind) for _ in range(count)]
        if kind == _TEXT:
            self._skip_texts(count)
        elif kind in _NUMBERS:
            self._skip(count * _NUMBERS[kind].size)
        else:
            raise BadHeader("is damaged: a list has items of an unknown kind")
        return ListLength(count)

    def _skip_texts(self, count: int) -> None:
        """Pass over a vocabulary: a hundred thousand texts and more, so nothing is called for each of them."""
        unpack = _NUMBERS[10].unpack_from
        data = self._data
        at = self._at
        for _ in range(count):
            if at + 8 > len(data):
                self._need(at + 8)
            at += 8 + unpack(data, at)[0]
        self._need(at)
        self._at = at

    def _number(self, kind: int) -> Any:
        if kind not in _NUMBERS:
            raise BadHeader("is damaged: a field is of an unknown kind")
        packed = _NUMBERS[kind]
        self._need(self._at + packed.size)
        (value,) = packed.unpack_from(self._data, self._at)
        self._at += packed.size
        return value

    def _text(self) -> str:
        length = self._number(10)
        self._need(self._at + length)
        kept = bytes(self._data[self._at : self._at + min(length, kept_text_bytes_max)])
        self._at += length
        return kept.decode(errors="replace")

    def _bytes(self, count: int) -> bytes:
        self._need(self._at + count)
        self._at += count
        return bytes(self._data[self._at - count : self._at])

    def _skip(self, count: int) -> None:
        self._need(self._at + count)
        self._at += count

    def _need(self, end: int) -> None:
        """Have the bytes up to here."""
        if end > header_bytes_max:
            raise BadHeader(f"is damaged: its header has more than {header_bytes_max:,} bytes")
        while len(self._data) < end:
            chunk = self._read(chunk_bytes)
            if not chunk:
                raise BadHeader("is damaged: it ends inside its header")
            self._data += chunk

    @staticmethod
    def _bounded(count: int, most: int, what: str) -> int:
        if count > most:
            raise BadHeader(f"is damaged: it claims to have {count:,} {what}")
        return count

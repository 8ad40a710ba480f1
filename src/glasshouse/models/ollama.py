"""`OllamaModel`: models behind Ollama's own API, and the lists of models that an Ollama server has.

Always holds: `complete` makes exactly one request. Every request for a model has the same `num_ctx`, because another
value makes Ollama load the model anew. Prompts are never cut in silence: `truncate` and `shift` are off, and the counted
tokens are compared with what was sent. Turning thinking off may turn the schema off, too; what works for a model is
found out from its replies and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from glasshouse.errors import GlasshouseError, ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.events.event import Json
from glasshouse.model_values import Finish, Tokens
from glasshouse.models.deep_probe import deep_checks
from glasshouse.models.installed import Installed, parameters_in, usual_context_tokens
from glasshouse.models.messages import messages_of
from glasshouse.models.reply_parts import (
    ReplyParts,
    check_prompt_is_whole,
    count_in,
    is_schema_dropped,
    name_in,
)
from glasshouse.models.server import BadAnswer, Server, load_seconds_max
from glasshouse.models.server_model import ServerModel
from glasshouse.runtime.call_time import CallBounds, CallTime, first_token_seconds_max, token_seconds_max
from glasshouse.runtime.ports import OnProbe, OnProgress, OnText, Probe, ProbeCheck
from glasshouse.turns.moment.prompt import Completion, Prompt

OLLAMA_URL: Final = "http://localhost:11434"

models_listed_max: Final = 500
"""More models of an Ollama server are not listed."""
pull_seconds_max: Final = 12 * 3600.0
"""A longer download is given up."""
template_chars_max: Final = 200
"""The rest of a model's template is not looked at."""
digest_chars: Final = 12
"""How much of a model's digest is recorded with each call, as `ollama list` shows it."""

_ADD_SLOTS: Final = (
    "OLLAMA_NUM_PARALLEL=4 in the server's environment answers four creatures at once; set max_parallel then."
)
_NANOSECONDS_A_MILLISECOND: Final = 1_000_000
_CHAT: Final = "/api/chat"


_in_use: dict[tuple[str, str], WeakSet[OllamaModel]] = {}
"""The models of this process by server and name, because they share what the server has loaded."""


class _OllamaAnswer:
    """The answer of Ollama: one object, or many parts of a stream."""

    def __init__(self, parts: ReplyParts) -> None:
        self.parts = parts
        self.last: Json = {}
        """The last object, which has the counts and the times."""

    def take(self, part: Json) -> bool:
        """Read one object."""
        message = part.get("message")
        if part.get("done"):
            self.last = part
        if not isinstance(message, dict):
            return False
        return self.parts.add(message.get("content"), message.get("thinking"))


class OllamaModel(ServerModel):
    """A model of an Ollama server."""

    def __init__(
        self,
        model: str,
        url: str = OLLAMA_URL,
        *,
        key: str = "",
        key_variable: str = "",
        context_tokens: int | None = None,
        decoding: Mapping[str, Any] | None = None,
        reasoning_tokens_max: int = 0,
        call_seconds_max: float | None = None,
        first_token_seconds_max: float = first_token_seconds_max,
        token_seconds_max: float = token_seconds_max,
        max_parallel: int = 1,
    ) -> None:
        """`context_tokens` becomes `num_ctx`. `decoding` holds further options, such as `temperature`."""
        self.load_seconds_max = load_seconds_max
        """How much longer a call may take because the server loads the model first."""
        server = Server(
            url,
            key=key,
            key_variable=key_variable,
            bounds=CallBounds(call_seconds_max, first_token_seconds_max, token_seconds_max),
            load_seconds=self.load_seconds_max,
        )
        super().__init__(server, model, decoding, reasoning_tokens_max)
        self.max_parallel = max_parallel
        self.is_free = self._server.is_loopback and not is_cloud(model)
        self._context_tokens = context_tokens
        self._think: bool | str | None = _think_at_first(model, reasoning_tokens_max)
        """What `think` is set to; None: it is left out."""
        self._has_system_role = True
        self._digest = ""
        self._same = _in_use.setdefault((self.backend, model), WeakSet())
        self._same.add(self)

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer, by one request."""
        time = self._server.call_time(is_streamed=True)
        answer = _OllamaAnswer(ReplyParts(time, on_text, on_progress))
        body = self._body(prompt)
        try:
            await self._named(self._server.ask(_CHAT, body, answer.take, time))
        except BadAnswer as bad:
            raise self._error_of(bad, body, answer) from None
        return self._completion(prompt, body, answer)

    async def probe(self, *, deep: bool = False, on_probe: OnProbe | None = None) -> Probe:
        """What the server says about itself and the model; with `deep`, also what a few calls show."""
        answered = await self._found_or_problem(self._listed_and_running())
        if isinstance(answered, Probe):
            return answered
        listed, running = answered
        mine = listed.get(self.name) or listed.get(f"{self.name}:latest")
        if mine is None:
            problem = f"{self.backend} has no model {self.name}."
            return Probe(is_reachable=True, model=self.name, problem=problem, advice=self._pull())
        self._digest = mine.digest[:digest_chars]
        checks: tuple[ProbeCheck, ...] = ()
        if deep:
            room = min(
                self._context_tokens or usual_context_tokens, mine.context_tokens or usual_context_tokens
            )
            checks = await deep_checks(
                self, room, "Ollama keeps the beginning of the last prompt of each slot.", on_probe
            )
            running = await self._server.read("/api/ps")
        return Probe(
            is_reachable=True,
            model=self.name,
            digest=mine.digest,
            context_tokens=_context_of(running, mine.name) or self._context_asked_for(mine),
            parameters_b=mine.parameters_b,
            quantization=mine.quantization,
            checks=(ProbeCheck("answers several calls at once", advice=_ADD_SLOTS), *checks),
        )

    async def _listed_and_running(self) -> tuple[dict[str, Installed], Json]:
        listed = {model.name: model for model in await _listed_by(self._server)}
        return listed, await self._server.read("/api/ps")

    def _context_asked_for(self, mine: Installed) -> int | None:
        """What the model will get when it is loaded: Ollama lowers `num_ctx` to what the model was trained for."""
        asked_for = self._num_ctx()
        return None if asked_for is None else min(asked_for, mine.context_tokens or asked_for)

    def _pull(self) -> str:
        return f"Get it with: ollama pull {self.name}"

    def _body(self, prompt: Prompt) -> Json:
        options: Json = {
            **self._decoding,
            "seed": prompt.seed,
            "num_predict": prompt.reply_tokens_max + self._reasoning_tokens_max,
        }
        if (context_tokens := self._num_ctx()) is not None:
            options["num_ctx"] = context_tokens
        if prompt.stop:
            options["stop"] = list(prompt.stop)
        body: Json = {
            "model": self.name,
            "messages": messages_of(prompt, has_system_role=self._has_system_role),
            "stream": True,
            "truncate": False,
            "shift": False,
            "options": options,
        }
        if self._think is not None:
            body["think"] = self._think
        if prompt.form == "schema" and self.form == "schema" and prompt.schema is not None:
            body["format"] = prompt.schema
        return body

    def _completion(self, prompt: Prompt, body: Json, answer: _OllamaAnswer) -> Completion:
        parts = answer.parts
        last = answer.last
        if not last and not parts.is_stopped:
            raise ModelFailed(f"{self.backend} broke off its answer.", self.name)
        tokens = _tokens_of(last) or parts.tokens_estimated(prompt)
        check_prompt_is_whole(prompt, tokens, self.backend, self.name, self._raise_context())
        is_cut = parts.is_stopped or last.get("done_reason") == "length"
        finish: Finish = "length" if is_cut else "stop"
        text, reasoning = parts.answer(prompt, finish)
        if "format" in body:
            is_dropped = finish == "stop" and is_schema_dropped(text, body["format"])
            self._learn_from_reply(body, is_dropped=is_dropped, has_thought=bool(reasoning))
        if is_cut and not text.strip() and reasoning:
            self._learn(
                f"{self.name} spent its whole reply on thinking, although it was asked not to. Give its binding "
                "reasoning_tokens_max, or bind a model that does not think."
            )
        load_ns = count_in(last, "load_duration") or 0
        return Completion(
            text,
            self.name,
            tokens,
            None,
            reasoning,
            parts.milliseconds,
            finish,
            served_by=self._digest or name_in(last.get("remote_model"), last.get("remote_host")),
            load_ms=load_ns / _NANOSECONDS_A_MILLISECOND,
            first_text_ms=parts.first_text_ms,
        )

    def _learn_from_reply(self, body: Json, *, is_dropped: bool, has_thought: bool) -> None:
        """Find out whether the schema and the setting of `think` work together, and choose what does.

        Some models ignore the schema when thinking is turned off. Then `think` is left out once: if the model thinks
        by itself, it has no room for that, so thinking stays off and the schema goes.
        """
        if self.form != "schema":
            return  # It was settled while this call was under way.
        if is_dropped and body.get("think") is False:
            self._think = None
            self._learn(f"{self.name} ignores the JSON Schema when thinking is off: `think` is left out now.")
        elif is_dropped or ("think" not in body and has_thought and not self._reasoning_tokens_max):
            self._think = _think_at_first(self.name, self._reasoning_tokens_max)
            self.form = "json"
            self._learn(
                f"{self.backend} does not hold {self.name} to the JSON Schema: its replies are asked for in words now."
            )

    def _num_ctx(self) -> int | None:
        """The largest context that anybody here wants of this model: one value, or it would be loaded for each anew."""
        return max([model._context_tokens for model in self._same if model._context_tokens], default=None)

    def _raise_context(self) -> str:
        return f"Raise context_tokens of {self.name} (now {self._num_ctx() or 'the default of the server'})."

    def _error_of(self, bad: BadAnswer, body: Json, answer: _OllamaAnswer) -> GlasshouseError:
        parts = answer.parts
        if parts.text or parts.reasoning:
            reason = f"{self.backend} broke off its answer with an error: {bad.words}"
            return ModelFailed(reason, self.name)
        if bad.says("longer than the context", "exceeds the context", "context length"):
            reason = f"{self.backend} says that the prompt is longer than the context of {self.name}."
            return ModelMisconfigured(reason, self._raise_context(), self.name)
        # These go by what this request had: another one may have learned the same while it was under way.
        if bad.says("does not support thinking") and "think" in body:
            self._think = None
            return self._learned(f"{self.name} does not think: `think` is left out now.")
        if bad.says("system role", "roles must alternate") and len(body["messages"]) > 1:
            self._has_system_role = False
            return self._learned(
                f"{self.name} has no system role: its instructions open the user message now."
            )
        if bad.status == 400 and bad.says("format", "schema", "grammar"):
            reason = f"{self.backend} refuses the JSON Schema of replies for {self.name}: {bad.words}"
            return ModelMisconfigured(
                reason, "Give its binding `form: json`, or bind another model.", self.name
            )
        if bad.status in {401, 403}:
            reason = f"{self.backend} does not let this computer use {self.name} (status {bad.status})."
            return ModelMisconfigured(reason, "Sign in with: ollama signin", self.name)
        return self._server.error_of(bad, self.name, self._pull() if bad.status == 404 else "")

    def _learned(self, remark: str) -> ModelUnreachable:
        """The error of a request that reached no model, and can be repeated at once."""
        self._learn(remark)
        return ModelUnreachable(remark, self.name, 0.0)


def is_cloud(model: str) -> bool:
    """Whether the name is that of a model which Ollama only passes on to its paid cloud."""
    return model.endswith(("-cloud", ":cloud"))


def _think_at_first(model: str, reasoning_tokens_max: int) -> bool | str:
    if "gpt-oss" in model:  # It always thinks, and takes only how much.
        return "medium" if reasoning_tokens_max else "low"
    return reasoning_tokens_max > 0


def _tokens_of(last: Json) -> Tokens | None:
    given = count_in(last, "prompt_eval_count")
    written = count_in(last, "eval_count")
    if given is None:  # Old servers leave it out when the whole prompt was cached.
        return None
    read = min(count_in(last, "prompt_eval_cached_count") or 0, given)
    return Tokens(given - read, written or 0, cache_read=read)


class Pulled(NamedTuple):
    """How far a download has come."""

    status: str
    bytes_done: int = 0
    bytes_total: int = 0


async def pull(url: str, model: str, on_progress: Callable[[Pulled], None]) -> None:
    """Let the server download a model. `on_progress` is called for each step that it reports."""
    server = Server(url)
    time = CallTime(CallBounds(pull_seconds_max), is_streamed=False)

    def take(part: Json) -> bool:
        done = count_in(part, "completed") or 0
        total = count_in(part, "total") or 0
        on_progress(Pulled(name_in(part.get("status")), done, total))
        return False

    try:
        await server.ask("/api/pull", {"model": model, "stream": True}, take, time)
    except BadAnswer as bad:
        reason = f"{server.address} could not download {model}: {bad.words}"
        raise ModelMisconfigured(
            reason, "Check the name, and that there is room on the disk.", model
        ) from None
    finally:
        await server.close_connections()


async def installed_at(url: str = OLLAMA_URL, *, key: str = "", key_variable: str = "") -> list[Installed]:
    """The models that the Ollama server at this address has."""
    server = Server(url, key=key, key_variable=key_variable)
    try:
        return await _listed_by(server)
    except BadAnswer as bad:
        raise server.error_of(bad, "its list of models") from None
    finally:
        await server.close_connections()


async def _listed_by(server: Server) -> list[Installed]:
    entries = (await server.read("/api/tags")).get("models")
    named = [entry for entry in entries or () if isinstance(entry, dict) and entry.get("name")]
    return [_installed(entry, await _shown(server, entry)) for entry in named[:models_listed_max]]


async def _shown(server: Server, entry: Json) -> Json:
    try:
        return await server.read("/api/show", {"model": entry["name"]})
    except BadAnswer:  # A model whose files are damaged is listed all the same.
        return {}


def _installed(entry: Json, shown: Json) -> Installed:
    details: Json = entry["details"] if isinstance(entry.get("details"), dict) else {}
    info: Json = shown["model_info"] if isinstance(shown.get("model_info"), dict) else {}
    can = shown.get("capabilities")
    size = parameters_in(name_in(details.get("parameter_size")))
    counted = count_in(info, "general.parameter_count")
    return Installed(
        name=name_in(entry["name"]),
        digest=name_in(entry.get("digest")),
        parameters_b=counted / 1e9 if counted else size,
        quantization=name_in(details.get("quantization_level")),
        context_tokens=count_in(info, f"{info.get('general.architecture')}.context_length"),
        bytes=count_in(entry, "size"),
        is_remote=bool(entry.get("remote_host") or shown.get("remote_host")) or is_cloud(entry["name"]),
        capabilities=frozenset(map(str, can)) if isinstance(can, list) else None,
        template=str(shown.get("template") or "")[:template_chars_max],
    )


def _context_of(running: Json, name: str) -> int | None:
    """The context of a model that is loaded now."""
    for entry in running.get("models") or ():
        if isinstance(entry, dict) and entry.get("name") == name:
            return count_in(entry, "context_length")
    return None

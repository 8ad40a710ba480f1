"""`OpenAICompatible`: models behind llama.cpp, vLLM, LM Studio, OpenAI, OpenRouter, or any server that speaks like them.

Always holds: `complete` makes exactly one request. What a server or a model refuses is remembered and left out from
then on: the refused request reached no model, so it is raised as `ModelUnreachable` with nothing to wait for, and
whoever asked asks again. A schema is sent as `response_format` only; when a reply shows that the server drops it,
`form` becomes `json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from glasshouse.errors import (
    GlasshouseError,
    ModelFailed,
    ModelMisconfigured,
    ModelUnreachable,
    names_shown_max,
)
from glasshouse.events.event import Json
from glasshouse.model_values import Finish, Tokens
from glasshouse.models.deep_probe import deep_checks
from glasshouse.models.installed import usual_context_tokens
from glasshouse.models.messages import messages_of
from glasshouse.models.openai_lists import Listed, ServerKind, listed_by, props_of, root_and_prefix, slots_in
from glasshouse.models.reply_parts import (
    ReplyParts,
    check_prompt_is_whole,
    count_in,
    is_schema_dropped,
    name_in,
)
from glasshouse.models.server import BadAnswer, Server, bad_answer, load_seconds_max
from glasshouse.models.server_model import ServerModel
from glasshouse.models.wire_schema import Dialect, reply_text, wire_schema
from glasshouse.runtime.call_time import CallBounds, first_token_seconds_max, token_seconds_max
from glasshouse.runtime.ports import OnProbe, OnProgress, OnText, Probe, ProbeCheck
from glasshouse.turns.moment.prompt import Completion, Prompt

parallel_default: Final = 4
"""How many calls a server gets at once if nobody says."""

_RAISE_CONTEXT: Final[dict[str, str]] = {
    "llama.cpp": "Start llama-server with a larger -c (its slots share it), or lower context_tokens.",
    "lmstudio": "Load the model with a larger context length (lms load --context-length), or lower context_tokens.",
    "vllm": "Start vLLM with a larger --max-model-len, or lower context_tokens.",
}
_ADD_SLOTS: Final[dict[str, str]] = {
    "llama.cpp": "llama-server --parallel 4 answers four creatures at once (with four times the -c).",
    "lmstudio": "Its load settings say how many predictions run at once.",
    "vllm": "--max-num-seqs says how many calls run at once.",
}
_KEEP_PREFIXES: Final[dict[str, str]] = {
    "llama.cpp": "Start llama-server without --no-cache-prompt, with one slot for each creature that plays often.",
    "lmstudio": "It keeps the beginning of the last prompt of each loaded model.",
    "vllm": "Start vLLM with --enable-prefix-caching and --enable-prompt-tokens-details.",
    "openai": "OpenAI keeps beginnings of 1,024 tokens and more by itself.",
}

_FINISHES: Final[dict[str, Finish]] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filtered",
}
_CONTEXT_EXCEEDED: Final = (
    "context length",
    "context size",
    "context window",
    "context_length_exceeded",
    "exceed_context_size",
)
_SYSTEM_REFUSED: Final = ("system role", "system message", "roles must alternate", "conversation roles")
_NEEDED: Final = frozenset({"model", "messages", "stream", "max_tokens", "max_completion_tokens"})
_NAMES: Final = ("id", "model", "provider", "system_fingerprint")
_KINDS_BY_FIELD: Final[dict[str, ServerKind]] = {
    "timings": "llama.cpp",
    "kv_transfer_params": "vllm",
    "stats": "lmstudio",
}
"""Fields of an answer that one kind of server has."""
_REASONS_BY_ITSELF: Final = re.compile(r"(?:.*/)?(?:o\d|gpt-5)")


class _OpenAIAnswer:
    """The answer of a server: one object, or many parts of a stream."""

    def __init__(self, parts: ReplyParts) -> None:
        self.parts = parts
        self.finish = ""
        self.usage: Json = {}
        self.names: Json = {}
        """The answer's id, its model, and what served it, each as it is first named."""
        self.fields: set[str] = set()
        self.is_whole = False
        """Whether it came in one piece."""
        self.is_refused = False

    def take(self, part: Json) -> bool:
        """Read one object."""
        self.fields |= part.keys()
        for name in _NAMES:
            if part.get(name) and name not in self.names:
                self.names[name] = part[name]
        read = part.get("prompt_progress")
        if isinstance(read, dict):
            self.parts.note_read(count_in(read, "processed") or 0, count_in(read, "total") or 0)
        if isinstance(part.get("usage"), dict):
            self.usage = {**self.usage, **part["usage"]}
        choices = part.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return False
        if choice.get("error"):
            raise bad_answer(choice["error"], 500, lambda words: words[:300])
        self.finish = str(choice.get("finish_reason") or self.finish)
        message = choice.get("message")
        self.is_whole |= isinstance(message, dict)
        piece = message if isinstance(message, dict) else choice.get("delta")
        if not isinstance(piece, dict):
            return False
        self.is_refused |= bool(piece.get("refusal"))
        reasoning = piece.get("reasoning_content") or piece.get("reasoning")
        return self.parts.add(piece.get("content") or piece.get("refusal"), reasoning)


class OpenAICompatible(ServerModel):
    """A model behind a server that speaks the API of OpenAI."""

    def __init__(
        self,
        model: str,
        url: str,
        *,
        server: ServerKind = "other",
        key: str = "",
        key_variable: str = "",
        context_tokens: int | None = None,
        decoding: Mapping[str, Any] | None = None,
        reasoning_tokens_max: int = 0,
        call_seconds_max: float | None = None,
        first_token_seconds_max: float = first_token_seconds_max,
        token_seconds_max: float = token_seconds_max,
        max_parallel: int | None = None,
    ) -> None:
        """`decoding` goes into the request as it is; without it, the server's own settings hold."""
        root, self._prefix = root_and_prefix(url)
        is_hosted = server in {"openai", "openrouter"}
        self.load_seconds_max = 0.0 if is_hosted else load_seconds_max
        """How much longer a call may take because the server loads the model first."""
        at_root = Server(
            root,
            key=key,
            key_variable=key_variable,
            bounds=CallBounds(call_seconds_max, first_token_seconds_max, token_seconds_max),
            load_seconds=self.load_seconds_max,
        )
        super().__init__(at_root, model, decoding, reasoning_tokens_max)
        self.max_parallel = max_parallel or parallel_default
        self._max_parallel = max_parallel
        self.is_free = self._server.is_loopback
        self._kind = server
        self._context_tokens = context_tokens
        self._length_name = "max_completion_tokens" if server == "openai" else "max_tokens"
        self._dialect: Dialect = "wrapped" if is_hosted else "root-anyOf"
        self._has_system_role = True
        self._left_out: frozenset[str] = frozenset()
        self._efforts: tuple[str, ...] = ("none", "minimal", "low")
        """The least reasoning comes first. Which of them a model of OpenAI takes differs from model to model."""

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer, by one request."""
        time = self._server.call_time(is_streamed=self.streams)
        answer = _OpenAIAnswer(ReplyParts(time, on_text, on_progress))
        body = self._body(prompt, is_streamed=self.streams)
        path = f"{self._prefix}/chat/completions"
        try:
            await self._named(self._server.ask(path, body, answer.take, time))
        except BadAnswer as bad:
            raise self._error_of(bad, body, answer) from None
        return self._completion(prompt, body, answer)

    async def open(self) -> None:
        """Find out which server this is, and how many calls llama.cpp answers at once, unless somebody said so.

        A server that cannot be asked now is no reason to refuse: whoever plays on it finds out.
        """
        if self._kind == "other":
            with suppress(BadAnswer, ModelUnreachable, ModelFailed, ModelMisconfigured):
                await self._listed()
        if self._kind == "llama.cpp" and self._max_parallel is None:
            self._take_slots(slots_in(await props_of(self._server)))

    def _take_slots(self, slots: int | None) -> None:
        if slots is not None and self._max_parallel is None:
            self.max_parallel = slots

    async def probe(self, *, deep: bool = False, on_probe: OnProbe | None = None) -> Probe:
        """What the server says about itself and the model; with `deep`, also what a few calls show."""
        answered = await self._found_or_problem(self._listed_and_props())
        if isinstance(answered, Probe):
            return answered
        listed, props = answered
        by_name = {entry.model.name: entry for entry in listed}
        # llama.cpp has one model and answers under any name.
        mine = by_name.get(self.name) or (listed[0] if props and len(listed) == 1 else None)
        if mine is None:
            problem = f"{self.backend} has no model {self.name}."
            names = ", ".join([*by_name][:names_shown_max]) or "no model"
            return Probe(is_reachable=True, model=self.name, problem=problem, advice=f"It has {names}.")
        slots = slots_in(props)
        self._take_slots(slots)
        checks = self._slot_checks(slots)
        if deep:
            room = [tokens for tokens in (mine.context_served, self._context_tokens) if tokens]
            cache_advice = _KEEP_PREFIXES.get(self._kind, "The server does not say that it keeps prompts.")
            checks += await deep_checks(self, min(room, default=usual_context_tokens), cache_advice, on_probe)
        return Probe(
            is_reachable=True,
            model=self.name,
            digest=mine.model.digest,
            context_tokens=mine.context_served,
            parameters_b=mine.model.parameters_b,
            quantization=mine.model.quantization,
            slots=slots,
            checks=checks,
        )

    async def _listed_and_props(self) -> tuple[list[Listed], Json]:
        listed = await self._listed()
        return listed, await self._server.read("/props") if self._kind == "llama.cpp" else {}

    async def _listed(self) -> list[Listed]:
        """The models of the server, whose list often shows which server it is."""
        listed = await listed_by(self._server, self._prefix, self._kind)
        if self._kind == "other" and listed:
            self._kind = listed[0].kind
        return listed

    def _slot_checks(self, slots: int | None) -> tuple[ProbeCheck, ...]:
        what = "answers several calls at once"
        advice = _ADD_SLOTS.get(self._kind, "")
        if slots is None:
            return (ProbeCheck(what, advice=advice),) if advice else ()
        if slots == 1 and self._max_parallel == 1:
            return ()  # As whoever bound it says.
        if slots == 1:
            return (ProbeCheck(what, is_good=False, advice=advice),)
        return (ProbeCheck(f"{what} ({slots})", is_good=True),)

    def _body(self, prompt: Prompt, *, is_streamed: bool) -> Json:
        body: Json = {
            **self._reasoning_switch(),
            **self._decoding,
            "model": self.name,
            "messages": messages_of(prompt, has_system_role=self._has_system_role),
            self._length_name: prompt.reply_tokens_max + self._reasoning_tokens_max,
            "stream": is_streamed,
        }
        if self._kind == "openrouter":
            # Without this, an upstream provider may ignore a parameter. Few of them know `seed`, so it is left out.
            body.setdefault("provider", {"require_parameters": True})
        else:
            body["seed"] = prompt.seed
        if prompt.stop:
            body["stop"] = list(prompt.stop)
        if is_streamed:
            body["stream_options"] = {"include_usage": True}
            if self._kind == "llama.cpp":
                body["return_progress"] = True
        if prompt.form == "schema" and self.form == "schema" and prompt.schema is not None:
            schema = wire_schema(prompt.schema, self._dialect)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            }
        return {name: value for name, value in body.items() if name not in self._left_out}

    def _reasoning_switch(self) -> Json:
        """What turns reasoning off, or limits it, on this server."""
        tokens_max = self._reasoning_tokens_max
        if self._kind in {"llama.cpp", "vllm"}:
            return {"chat_template_kwargs": {"enable_thinking": tokens_max > 0}}
        if self._kind == "openrouter":
            return {"reasoning": {"max_tokens": tokens_max} if tokens_max else {"effort": "none"}}
        if self._kind == "openai" and not tokens_max and _REASONS_BY_ITSELF.match(self.name):
            return {"reasoning_effort": self._efforts[0]} if self._efforts else {}
        return {}

    def _completion(self, prompt: Prompt, body: Json, answer: _OpenAIAnswer) -> Completion:
        parts = answer.parts
        usage = answer.usage
        if self._kind == "other":
            kinds = [kind for field, kind in _KINDS_BY_FIELD.items() if field in answer.fields]
            self._kind = kinds[0] if kinds else "other"
        if not answer.finish and not answer.is_whole and not parts.is_stopped:
            what = "broke off its answer" if parts.text else "sent an answer without a reply"
            raise ModelFailed(f"{self.backend} {what}.", self.name, tokens_of(usage))
        finish = "length" if parts.is_stopped else _FINISHES.get(answer.finish, "stop")
        finish = "filtered" if answer.is_refused else finish
        tokens = tokens_of(usage) or parts.tokens_estimated(prompt)
        check_prompt_is_whole(prompt, tokens, self.backend, self.name, self._raise_context())
        text, reasoning = parts.answer(prompt, finish)
        if "response_format" in body:
            text = self._checked(text, body, finish)
        if finish == "length" and not text.strip() and reasoning:
            self._learn(
                f"{self.name} spent its whole reply on reasoning. Give its binding reasoning_tokens_max, "
                "or turn its reasoning off."
            )
        cost = usage.get("cost")
        usd = float(cost) if isinstance(cost, int | float) and 0 <= cost < float("inf") else None
        names = answer.names
        model = names.get("model")
        return Completion(
            text,
            self.name,
            tokens,
            usd,
            reasoning,
            parts.milliseconds,
            finish,
            price_source="" if usd is None else "server",
            served_by=name_in(
                names.get("provider"), names.get("system_fingerprint"), model if model != self.name else ""
            ),
            response_id=name_in(names.get("id")),
            first_text_ms=parts.first_text_ms,
        )

    def _checked(self, text: str, body: Json, finish: Finish) -> str:
        """The reply without its wrapper. A finished reply that breaks the schema shows that the server dropped it."""
        schema = body["response_format"]["json_schema"]["schema"]
        if finish == "stop" and is_schema_dropped(text, schema):
            self.form = "json"
            self._learn(
                f"{self.backend} ignores the JSON Schema for {self.name}: its replies are asked for in words now."
            )
        return reply_text(text, self._dialect)

    def _raise_context(self) -> str:
        return _RAISE_CONTEXT.get(
            self._kind, "Lower context_tokens of this model to what its server gives it."
        )

    def _error_of(self, bad: BadAnswer, body: Json, answer: _OpenAIAnswer) -> GlasshouseError:
        parts = answer.parts
        if parts.text or parts.reasoning:
            reason = f"{self.backend} broke off its answer with an error: {bad.words}"
            # Servers may have written more than they sent: without a count it costs what was reserved.
            return ModelFailed(reason, self.name, tokens_of(answer.usage))
        if bad.says(*_CONTEXT_EXCEEDED) and 400 <= bad.status < 500:
            reason = (
                f"{self.backend} says that the prompt is longer than the context of {self.name}: {bad.words}"
            )
            return ModelMisconfigured(reason, self._raise_context(), self.name)
        learned = self._learned_from(bad, body) if bad.status in {400, 404, 422, 500} else ""
        if learned:
            self._learn(learned)
            return ModelUnreachable(learned, self.name, 0.0)
        if "response_format" in body and bad.status in {400, 404, 422} and _is_about_schema(bad):
            reason = f"{self.backend} refuses the JSON Schema of replies for {self.name}: {bad.words}"
            return ModelMisconfigured(
                reason, "Give its binding `form: json`, or bind another model.", self.name
            )
        return self._server.error_of(bad, self.name, self._instead(bad))

    def _instead(self, bad: BadAnswer) -> str:
        if bad.status == 404 and bad.says("parameters"):
            return "Take settings out of its decoding, or bind another model."
        if bad.status == 404:
            return f"Bind a model that {self.backend} has: `glasshouse models` lists them."
        return ""

    def _learned_from(self, bad: BadAnswer, body: Json) -> str:
        """What to do differently from now on, as a sentence; empty if nothing can be learned.

        It goes by what this request had, because another one may have learned the same while it was under way.
        """
        if bad.says(*_SYSTEM_REFUSED) and len(body["messages"]) > 1:
            self._has_system_role = False
            return f"{self.name} has no system role: its instructions open the user message now."
        if bad.status == 404 and bad.says("parameters"):
            return self._learned_from_broker(body)
        if bad.status in {404, 500}:
            return ""
        if "reasoning_effort" in body and bad.says("effort"):
            return self._learned_effort(body["reasoning_effort"])
        sent = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
        other_name = "max_completion_tokens" if sent == "max_tokens" else "max_tokens"
        if bad.names(sent) and other_name not in self._left_out:
            self._left_out |= {sent}
            self._length_name = other_name
            return f"{self.name} limits replies by {other_name} only."
        if "response_format" in body and _is_about_schema(bad):
            if "anyOf" not in body["response_format"]["json_schema"]["schema"]:
                return ""
            self._dialect = "wrapped"
            return f"{self.backend} refuses a JSON Schema with anyOf at its root: the schema is wrapped now."
        if body["stream"] and (bad.names("stream") or bad.says("streaming")):
            self.streams = False
            return f"{self.backend} does not send the answers of {self.name} in pieces: they are asked for whole now."
        for name in body:
            if name not in _NEEDED and bad.names(name.removesuffix("_kwargs")):
                self._left_out |= {name}
                return f"{self.name} does not take {name}: it is left out now."
        return ""

    def _learned_effort(self, refused: str) -> str:
        self._efforts = tuple([effort for effort in self._efforts if effort != refused])
        if not self._efforts:
            self._left_out |= {"reasoning_effort"}
            return f"{self.name} does not take reasoning_effort: it is left out now."
        return f"{self.name} does not take reasoning_effort {refused}: it is {self._efforts[0]} now."

    def _learned_from_broker(self, body: Json) -> str:
        """What to leave out because no provider behind the server takes it. Models that never reason do not take
        `reasoning`."""
        if "reasoning" in body and "reasoning" not in self._decoding:
            self._left_out |= {"reasoning"}
            return f"No provider behind {self.backend} takes `reasoning` for {self.name}: it is left out now."
        if "response_format" in body:
            self.form = "json"
            return f"No provider behind {self.backend} holds {self.name} to a JSON Schema: it is asked in words now."
        return ""


def _is_about_schema(bad: BadAnswer) -> bool:
    return bad.says("schema", "response_format", "grammar", "structured output")


def tokens_of(usage: Json) -> Tokens | None:
    """What a server counted; None if it did not count."""
    given = count_in(usage, "prompt_tokens")
    written = count_in(usage, "completion_tokens")
    if given is None and written is None:
        return None
    given = given or 0
    written = written or 0
    details = usage.get("prompt_tokens_details")
    read = count_in(details, "cached_tokens") or count_in(usage, "prompt_cache_hit_tokens") or 0
    stored = count_in(details, "cache_write_tokens") or 0
    read = min(read, given)
    stored = min(stored, given - read)
    reasoning = count_in(usage.get("completion_tokens_details"), "reasoning_tokens") or 0
    if reasoning and count_in(usage, "total_tokens") == given + written + reasoning:
        written += reasoning  # Some count reasoning beside the reply instead of inside it.
    return Tokens(
        given - read - stored,
        max(written, reasoning),
        cache_read=read,
        cache_write=stored,
        reasoning=reasoning,
    )

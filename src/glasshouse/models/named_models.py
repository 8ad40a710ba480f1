"""`NamedModels`: the models that somebody asked for in a word, such as `ollama`, an address, or a models.yaml.

Always holds: what each name means is settled when it is opened, before anything is played, and depends on what the
servers list, never on what they have loaded. A server that cannot be used is a reason to refuse only for the profiles
that need it. Keys come from the caller, and nothing here shows one.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from glasshouse.errors import (
    GlasshouseError,
    ModelMisconfigured,
    ModelUnreachable,
    Refused,
    UnknownName,
    names_shown_max,
)
from glasshouse.events.model_use import FREE, Price
from glasshouse.manifests.models_file import ModelsFile, Pins, ServerName, load_models_file
from glasshouse.model_values import Form
from glasshouse.models.installed import (
    DOES_NOT_WRITE,
    PARAMETERS_B,
    Installed,
    chosen_from,
    in_words,
    only_one_of,
    parameters_in,
    size_of,
    usual_context_tokens,
    why_not_chosen,
)
from glasshouse.models.known_servers import (
    KNOWN_SERVERS,
    LOCAL,
    OFFLINE,
    PROVIDERS,
    Wanted,
    how_to_start,
    is_own,
    usual_url,
    wanted_of,
)
from glasshouse.models.router import ModelRouter, close_models, offline_names, size_played
from glasshouse.reprs import shown
from glasshouse.runtime.call_time import USUAL_BOUNDS, CallBounds
from glasshouse.runtime.ports import Model, Route
from glasshouse.turns.moment.prompt import PROFILES, REPLY_TOKENS

if TYPE_CHECKING:
    from typing import Literal

    from glasshouse.models.local.llama_child import Loading
    from glasshouse.models.local.local_model import LocalModel
    from glasshouse.models.local.local_models import LocalModels
    from glasshouse.models.server_model import ServerModel
    from glasshouse.runtime.capabilities import Pacing

Variables = Callable[[str], str]
"""Gives the value of a variable of the environment, such as a key; an empty text if it has none."""


class Endpoint(NamedTuple):
    """A server at an address, and the variable that holds the key for it."""

    server: ServerName
    url: str
    key_variable: str = ""
    max_parallel: int | None = None

    @property
    def title(self) -> str:
        """The server as people call it."""
        known = KNOWN_SERVERS[self.server]
        return known.title if self.url in {"", known.url} else f"{known.title} at {self.url}"

    def text_for(self, model: str = "") -> str:
        """What `--models` takes to name this server, or a model of it. A server that needs a key goes by its name, because an
        address names no variable that holds one."""
        if self.key_variable or not self.url:
            return f"{self.server}:{model}" if model else self.server
        return f"{self.url}#{model}" if model else self.url


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One model that was asked for. What is None or empty is settled by what the server says."""

    endpoint: Endpoint
    model: str = ""
    context_tokens: int | None = None
    reply_tokens: int | None = None
    form: Form | Literal["auto"] = "auto"
    decoding: Mapping[str, Any] | None = None
    price: Price | None = None
    reasoning_tokens_max: int = 0
    bounds: CallBounds = USUAL_BOUNDS
    fallbacks: tuple[str, ...] = ()


class Choice(NamedTuple):
    """The model that plays a size, or why none does."""

    size: str
    played_as: str
    """The profile whose model plays it: itself unless that is not bound. Not so if everybody is pinned to one."""
    endpoint: Endpoint
    model: str = ""
    installed: Installed | None = None
    route: Route | None = None
    problem: str = ""
    parameters_b_max: float = max(PARAMETERS_B.values())
    """A model with more parameters is larger than it was meant to be. One that plays every size may be as large as any."""
    is_named: bool = True
    """Whether somebody named the model. Otherwise the rule chose it."""

    @property
    def remark(self) -> str:
        """What may surprise: another profile's model plays the size, one that is larger than the size, or one whose name says
        that it is for something else."""
        if self.played_as != self.size:
            return f"No model is bound to {self.size}: {self.played_as} plays it."
        if self.installed is not None and self.installed.unfit:
            return f"{self.model} {self.installed.unfit}: expect it to recite and to babble."
        why_not = "" if self.installed is None or self.is_named else why_not_chosen(self.installed)
        if why_not:
            return f"{self.model} {why_not}, by its name. It plays because {self.endpoint.title} has no other model that could."
        parameters = None if self.installed is None else self.installed.parameters
        if parameters is None or parameters < self.parameters_b_max:
            return ""
        nominal = f"{self.size} is nominally below {self.parameters_b_max:g}B"
        return f"{self.model} has {in_words(parameters)} parameters, and {nominal}: it may be slow."


class NamedModels:
    """A router over the models that a text names. Open it before it is asked for a route."""

    def __init__(self, wanted: str, variables: Variables, *, pins: Mapping[str, str] | None = None) -> None:
        self.wanted = wanted
        self.recorded = wanted
        """What a run records, so that it can ask for the same models again: a path as an absolute one."""
        self.pins = {who: _with_absolute_path(name) for who, name in (pins or {}).items()}
        """Handles and teams -> names of models, given beside the text. They hold before those of a models.yaml."""
        self.on_loading: Callable[[Loading], None] | None = None
        """Is told how far a model in a file is loaded."""
        self._variables = variables
        self._local_models: LocalModels | None = None
        self._users = 0
        """How often it was opened and not closed. The last one who closes it ends the models in files."""
        self._names: set[str] = set()
        """The models beside those of the text that will be asked for."""
        self._unready: dict[str, GlasshouseError] = {}
        """Why models in files could not be started."""
        meant = wanted_of(wanted)
        if isinstance(meant, Wanted) and meant.server == LOCAL:
            meant = meant._replace(
                model=_with_absolute_path(f"{LOCAL}:{meant.model}").removeprefix(f"{LOCAL}:")
            )
        self._file = load_models_file(meant) if isinstance(meant, Path) else None
        if isinstance(meant, Path):
            self.recorded = str(meant.absolute())
        elif meant.server == LOCAL:
            self.recorded = f"{LOCAL}:{meant.model}" if meant.model else LOCAL
        self._asked = dict(self._asked_in(self._file)) if self._file else {}
        self._base = None if isinstance(meant, Path) else self._asked_for(meant)
        self.names_server = self._base is not None and self._base.endpoint.server not in {OFFLINE, "other"}
        """Whether one server was named, so that one model plays every size."""
        self._offline = ModelRouter()
        self._lists: dict[Endpoint, list[Installed] | GlasshouseError] = {}
        self._models: dict[Any, ServerModel | LocalModel] = {}
        self._routes: dict[tuple[str, str | None], Route] = {}

    def __repr__(self) -> str:
        return shown(self, wanted=self.wanted)

    @property
    def pacing(self) -> Pacing:
        """How graphs are paced unless somebody says otherwise: freely, because real models differ in speed."""
        return "lockstep" if all(asked.endpoint.server == OFFLINE for asked in self._everything()) else "free"

    async def open(self, *names: str) -> None:
        """Look up what the servers have: those of the text, of the pins, and of models that will be named later. Whoever opens
        it closes it."""
        self._users += 1
        await self.prepare(*names)

    async def prepare(self, *names: str) -> None:
        """The same for whoever does not use the models: it need not be closed. Files are read for their digests."""
        await self.look(*names)
        for asked in self._asked_locally():
            await self._local.read_digest(asked.model, self.on_loading)
            self._routes.clear()

    async def look(self, *names: str) -> None:
        """The same without reading files, for whoever only lists what there is."""
        self._names |= {*names}
        if self._base is not None and self._base.endpoint.server == "other":
            self._base = await self._recognized(self._base)
        named = [self._named(name) for name in {*names, *self.pins.values()}]
        endpoints = {asked.endpoint for asked in (*self._everything(), *named)} - {*self._lists}
        listed = await asyncio.gather(*[self._list(endpoint) for endpoint in endpoints])
        self._lists.update(zip(endpoints, listed, strict=True))
        if self._base is not None and self._base.endpoint.server != OFFLINE:
            self._installed(self._base)  # Refused now, since every profile needs it.

    async def _recognized(self, base: Asked) -> Asked:
        """The same with the server that answers at its address, if that can be told."""
        from glasshouse.models.openai_lists import server_at

        endpoint = base.endpoint
        key = self._variables(endpoint.key_variable) if endpoint.key_variable else ""
        server, url = await server_at(endpoint.url, key=key)
        return msgspec.structs.replace(base, endpoint=endpoint._replace(server=server, url=url))

    async def close(self) -> None:
        """Close the connections of all models. Models in files end with the last one who opened them."""
        await close_models(self._models.values())
        self._users = max(0, self._users - 1)
        if not self._users:
            for model in self._local_ones():
                await model.leave()

    async def start(self) -> None:
        """Start the models in files that play, unless they run. Refused if the only one cannot be started; otherwise those who
        need it are refused."""
        for asked in self._asked_locally():
            try:
                self._unready.pop(asked.model, None)
                model = self._route("fast", asked).model
                await cast("LocalModel", model).start(self.on_loading)
            except GlasshouseError as wrong:
                if asked is self._base:
                    raise
                self._unready[asked.model] = wrong
                self._routes.clear()

    def _asked_locally(self) -> list[Asked]:
        """The models in files that play, each once: fallbacks are started when they are needed."""
        sizes = [self._of_size(size) for size in PROFILES]
        pinned = [self._named(name) for name in sorted({*self._names, *self.pins.values()})]
        in_file = [self._asked[name] for name in _pins_of(self._file)]
        local = [asked for asked in (*sizes, *pinned, *in_file) if asked.endpoint.server == LOCAL]
        return [*{(asked.model, asked.context_tokens): asked for asked in reversed(local)}.values()]

    def _local_ones(self) -> list[LocalModel]:
        return [cast("LocalModel", model) for key, model in self._models.items() if key[0].server == LOCAL]

    @property
    def _local(self) -> LocalModels:
        if self._local_models is None:
            from glasshouse.models.local.local_models import LocalModels
            from glasshouse.settings import MODELS_FOLDER

            folder = Path(self._variables("GLASSHOUSE_MODELS_FOLDER") or MODELS_FOLDER)
            self._local_models = LocalModels(folder, self._variables)
        return self._local_models

    def pin_of(self, handle: str, teams: Mapping[str, tuple[str, ...]], bound: str | None) -> str | None:
        """The name of the model that plays a creature, if it is not that of its size. `bound` is what its run says."""
        team = next((self.pins[name] for name in self.pins if handle in teams.get(name, ())), None)
        pins = self._file.pins if self._file else Pins()
        return self.pins.get(handle) or team or bound or pins.of(handle, teams)

    def route(self, profile: str, name: str | None = None, /) -> Route:
        """The route of a profile, or of a model by its name."""
        key = (profile, name)
        if key not in self._routes:
            asked = self._of_size(profile) if name is None else self._named(name)
            route = self._route(profile, asked)
            self._routes[key] = route if name is None else route._replace(name=_without_path(name, route))
        return self._routes[key]

    def _size_that_plays(self, profile: str) -> str:
        """The profile whose model plays a size: the one that everybody is pinned to, itself, or the nearest bound."""
        if self._file is None:
            return profile
        return self._file.pins.run or size_played(profile, self._asked)

    def choices(self) -> list[Choice]:
        """For each size, the model that plays it."""
        return [self._choice(size) for size in PROFILES]

    def _choice(self, size: str) -> Choice:
        asked = self._of_size(size)
        choice = Choice(size, size, asked.endpoint, asked.model, is_named=bool(asked.model))
        if self._file is not None and self._file.pins.run is None:
            played_as = self._size_that_plays(size)
            choice = choice._replace(played_as=played_as, parameters_b_max=PARAMETERS_B[size])
        try:
            route = self.route(size)
            return choice._replace(model=route.name, installed=self._listed(asked), route=route)
        except GlasshouseError as wrong:
            return choice._replace(problem=str(wrong))

    def remarks(self) -> list[str]:
        """What the models have learned about their servers until now, in sentences."""
        return [remark for model in self._models.values() for remark in model.remarks]

    def names(self) -> list[str]:
        """The models that a run may ask for by name: profiles of the file, what its servers list, the offline troupe."""
        names = [*self._asked]
        for endpoint, listed in self._lists.items():
            is_base = self._base is not None and endpoint == self._base.endpoint
            # A name says no address: it means a model of the only server, or of one at its usual address.
            if isinstance(listed, list) and (
                is_base or endpoint.url == usual_url(endpoint.server, self._variables)
            ):
                prefix = "" if is_base else f"{endpoint.server}:"
                names += [
                    f"{prefix}{model.name}"
                    for model in listed
                    if why_not_chosen(model) != DOES_NOT_WRITE or model is only_one_of(listed)
                ]
        return [*dict.fromkeys([*names, *offline_names()])]

    def texts(self) -> list[str]:
        """What names each model that writes of the server that was named: if the rule chose none, one of these has to be given."""
        listed = (
            self._lists.get(self._base.endpoint) if self._base is not None and not self._base.model else None
        )
        if self._base is None or not isinstance(listed, list):
            return []
        return [self._base.endpoint.text_for(model.name) for model in _able_to_write(listed)]

    def endpoints(self) -> dict[Endpoint, list[Installed] | GlasshouseError]:
        """Every server that was looked at: its models, or why it cannot be used."""
        return dict(self._lists)

    def _everything(self) -> list[Asked]:
        return [*self._asked.values()] if self._base is None else [self._base]

    def _of_size(self, profile: str) -> Asked:
        if profile not in PROFILES:
            raise UnknownName(noun="profile", name=profile, known=PROFILES)
        return self._base or self._asked[self._size_that_plays(profile)]

    def _named(self, name: str) -> Asked:
        """The model that a name means: a profile of the file, a model of a named server, or one of the only server."""
        if name in self._asked:
            return self._asked[name]
        if name.partition(":")[0] in KNOWN_SERVERS and isinstance(meant := wanted_of(name), Wanted):
            return self._asked_for(meant)
        if self._base is not None and self._base.endpoint.server != OFFLINE:
            return msgspec.structs.replace(self._base, model=name)
        raise UnknownName(noun="model", name=name, known=[*self._asked, *offline_names()])

    def _asked_for(self, wanted: Wanted) -> Asked:
        endpoint = self._endpoint(wanted.server, wanted.url, KNOWN_SERVERS[wanted.server].key_variable)
        return Asked(endpoint=endpoint, model=wanted.model)

    def _asked_in(self, file: ModelsFile) -> Iterator[tuple[str, Asked]]:
        """The models of a file by the names of their profiles."""
        for name, profile in file.profiles.items():
            server, backend = file.backend_of(profile)
            limits = profile.limits
            variable = backend.key_variable or KNOWN_SERVERS[server].key_variable
            asked = Asked(
                endpoint=self._endpoint(server, backend.url or "", variable, backend.max_parallel),
                model=profile.model if server != LOCAL else _beside(self.recorded, profile.model),
                context_tokens=profile.context_tokens,
                reply_tokens=profile.reply_tokens,
                form=profile.form,
                decoding=None if profile.decoding is None else profile.decoding.model_dump(exclude_none=True),
                price=None if profile.price is None else Price(**profile.price.model_dump()),
                reasoning_tokens_max=limits.reasoning_tokens,
                bounds=CallBounds(limits.call_seconds, limits.first_token_seconds, limits.token_seconds),
                fallbacks=profile.fallbacks,
            )
            yield name, asked

    def _endpoint(
        self, server: ServerName, url: str, key_variable: str, max_parallel: int | None = None
    ) -> Endpoint:
        return Endpoint(server, url or usual_url(server, self._variables), key_variable, max_parallel)

    async def _list(self, endpoint: Endpoint) -> list[Installed] | GlasshouseError:
        """What a server has, or why it cannot be used."""
        if endpoint.server == OFFLINE:
            return []
        if endpoint.server == LOCAL:
            return await self._files_listed(endpoint)
        key = self._variables(endpoint.key_variable) if endpoint.key_variable else ""
        if endpoint.key_variable and not key:
            reason = f"{endpoint.title} needs a key, and the variable {endpoint.key_variable} is not set."
            return ModelMisconfigured(reason, "Set it, or give --env-file FILE with a line for it.")
        try:
            return await _installed_at(endpoint, key)
        except ModelUnreachable:
            title = KNOWN_SERVERS[endpoint.server].title
            how = how_to_start(endpoint.server, endpoint.url)
            return ModelUnreachable(f"{title} does not answer at {endpoint.url}: {how}.")
        except GlasshouseError as refused:
            return refused

    async def _files_listed(self, endpoint: Endpoint) -> list[Installed] | GlasshouseError:
        named = [self._named(name) for name in {*self._names, *self.pins.values()}]
        asked = {asked.model for asked in (*self._everything(), *named) if asked.endpoint == endpoint}
        try:
            return await self._local.look(asked)
        except GlasshouseError as refused:
            return refused

    def _installed(self, asked: Asked) -> Installed | None:
        """The model that was asked for, as its server lists it. Refused if the server has no such model."""
        listed = self._lists.get(asked.endpoint, [])
        if isinstance(listed, GlasshouseError):
            raise listed
        if asked.endpoint.server == LOCAL:
            if asked.model in self._unready:
                raise self._unready[asked.model]
            return self._local.installed(asked.model, asked.context_tokens)
        if asked.endpoint.server in {OFFLINE, *PROVIDERS} or asked.endpoint not in self._lists:
            return None  # Nothing is listed, or nobody looked: a run names it that was opened by a program.
        if not asked.model:
            return _usual_of(asked.endpoint, listed)
        installed = _called(asked.model, listed)
        if installed is None and asked.endpoint.server == "llama.cpp" and len(listed) == 1:
            return listed[0]  # It answers under any name.
        if installed is None:
            raise _missing(asked, listed, is_base=asked == self._base)
        return installed

    def _listed(self, asked: Asked) -> Installed | None:
        """The same; but None for a model with fallbacks, since those play while it cannot be used."""
        try:
            return self._installed(asked)
        except GlasshouseError:
            if not asked.fallbacks:
                raise
            return None

    def _route(self, profile: str, asked: Asked) -> Route:
        endpoint = asked.endpoint
        known = KNOWN_SERVERS[asked.endpoint.server]
        if endpoint.server == OFFLINE:
            temper = asked.model.removeprefix(OFFLINE).removeprefix(":")
            return self._offline.route(profile, f"{OFFLINE}:{temper}" if temper else None)
        installed = self._listed(asked)
        name = installed.name if installed is not None else asked.model or known.usual_model
        context = _context_of(asked, installed)
        if asked.decoding is None:
            decoding = installed.decoding if installed is not None else {}
            asked = msgspec.structs.replace(asked, decoding=decoding)
        is_local = is_own(endpoint.url) and not (installed is not None and installed.is_remote)
        is_local |= endpoint.server == LOCAL
        price = asked.price or (installed and installed.price) or (FREE if is_local else None)
        return Route(
            model=self._model(asked, name, context, None if installed is None else installed.slots),
            name=name,
            context_tokens_max=context,
            reply_tokens_max=asked.reply_tokens or REPLY_TOKENS[profile],
            price=price,
            form=asked.form,
            decoding=asked.decoding or {},
            reasoning_tokens_max=asked.reasoning_tokens_max,
            call_seconds_max=asked.bounds.call_seconds,
            first_token_seconds_max=asked.bounds.first_token_seconds,
            token_seconds_max=asked.bounds.token_seconds,
            is_local=is_local,
            fallbacks=tuple(
                [
                    self._route(profile, msgspec.structs.replace(self._asked[name], fallbacks=()))
                    for name in asked.fallbacks
                ]
            ),
            digest=installed.digest if installed is not None else "",
            size=size_of(parameters_in(name) if installed is None else installed.parameters),
        )

    def _model(self, asked: Asked, name: str, context_tokens: int, slots: int | None) -> Model:
        """The object that asks the server; one for all profiles that ask the same. A number that was given for its server
        counts more than the `slots` that the server tells."""
        endpoint = asked.endpoint
        if endpoint.max_parallel is None and slots is not None:
            endpoint = endpoint._replace(max_parallel=slots)
            asked = msgspec.structs.replace(asked, endpoint=endpoint)
        decoding = tuple(sorted((asked.decoding or {}).items()))
        key = (endpoint, name, context_tokens, decoding, asked.reasoning_tokens_max, asked.bounds)
        if key not in self._models:
            if endpoint.server == LOCAL:
                self._models[key] = self._model_in_file(asked)
                return self._models[key]
            secret = self._variables(endpoint.key_variable) if endpoint.key_variable else ""
            self._models[key] = _backend(asked, name, context_tokens, secret)
        return self._models[key]

    def _model_in_file(self, asked: Asked) -> LocalModel:
        return self._local.model(
            asked.model,
            asked.context_tokens,
            decoding=asked.decoding,
            reasoning_tokens_max=asked.reasoning_tokens_max,
            bounds=asked.bounds,
        )


def _with_absolute_path(name: str) -> str:
    """The same model, by an absolute path if it is named by the path of its file."""
    server, _, model = name.partition(":")
    if server != LOCAL or not model:
        return name
    from glasshouse.models.local.local_models import absolute

    return f"{LOCAL}:{absolute(model)}"


def _without_path(name: str, route: Route) -> str:
    """The name under which a model is recorded: that of its file, if the file's path was given."""
    return f"{LOCAL}:{route.name}" if name.startswith(f"{LOCAL}:") else name


def _beside(models_file: str, path: str) -> str:
    """A path as a models.yaml means it: from its own folder."""
    from glasshouse.models.local.local_models import absolute, is_path

    return str(Path(models_file).parent / Path(path).expanduser()) if is_path(path) else absolute(path)


def _pins_of(file: ModelsFile | None) -> list[str]:
    """The profiles that a models.yaml pins somebody to."""
    return [] if file is None else [*file.pins.teams.values(), *file.pins.creatures.values()]


async def _installed_at(endpoint: Endpoint, key: str) -> list[Installed]:
    """The models of a server, as it lists them."""
    match endpoint.server:
        case "anthropic" | "gemini" | "mistral" | "offline" | "local":
            return []
        case "ollama":
            from glasshouse.models import ollama

            return await ollama.installed_at(endpoint.url, key=key, key_variable=endpoint.key_variable)
        case server:
            from glasshouse.models import openai_lists

            return await openai_lists.installed_at(
                endpoint.url, server=server, key=key, key_variable=endpoint.key_variable
            )


def _backend(asked: Asked, name: str, context_tokens: int, key: str) -> ServerModel:
    """A model on its server. The modules are imported here, so that a play with one server loads only what it needs."""
    endpoint = asked.endpoint
    given: dict[str, Any] = {
        "key": key,
        "key_variable": endpoint.key_variable,
        "decoding": asked.decoding,
        "reasoning_tokens_max": asked.reasoning_tokens_max,
        "call_seconds_max": asked.bounds.call_seconds,
        "first_token_seconds_max": asked.bounds.first_token_seconds,
        "token_seconds_max": asked.bounds.token_seconds,
    }
    if endpoint.max_parallel is not None:
        given["max_parallel"] = endpoint.max_parallel
    match endpoint.server:
        case "anthropic" | "gemini" | "mistral" as provider:
            from glasshouse.models.providers import ProviderModel

            return ProviderModel(name, provider, url=endpoint.url, **given)
        case "ollama":
            from glasshouse.models.ollama import OllamaModel

            return OllamaModel(name, endpoint.url, context_tokens=context_tokens, **given)
        case "offline" | "local":
            raise AssertionError("The offline troupe has a router of its own, and files have no server.")
        case server:
            from glasshouse.models.openai_compatible import OpenAICompatible

            return OpenAICompatible(name, endpoint.url, server=server, context_tokens=context_tokens, **given)


def _called(name: str, listed: list[Installed]) -> Installed | None:
    """The model of this name. A name without a tag means the tag `latest`."""
    return next((model for model in listed if model.name in {name, f"{name}:latest"}), None)


def _usual_of(endpoint: Endpoint, listed: list[Installed]) -> Installed:
    """The model that plays if only the server was named."""
    usual = KNOWN_SERVERS[endpoint.server].usual_model
    chosen = (_called(usual, listed) or only_one_of(listed)) if usual else chosen_from(listed)
    if chosen is not None:
        return chosen
    unfit = ", ".join(
        f"{model.name} {why_not_chosen(model)}" for model in listed[:4] if why_not_chosen(model)
    )
    is_hopeless = all(why_not_chosen(model) == DOES_NOT_WRITE for model in listed)
    reason = f"{endpoint.title} has no model that {'can play' if is_hopeless else 'is chosen by itself'}"
    reason += f" ({unfit})." if unfit else "."
    raise Refused(reason, _what_to_do(endpoint, listed))


def _missing(asked: Asked, listed: list[Installed], *, is_base: bool) -> GlasshouseError:
    """The refusal of a model that its server does not have. `is_base`: `--models` named it, so that another text may take its
    place."""
    endpoint = asked.endpoint
    if endpoint.server == "ollama" or is_base:
        reason = f"{endpoint.title} has no model {asked.model!r}."
        return Refused(reason, _what_to_do(endpoint, listed if is_base else [], asked.model))
    names = [model.name for model in listed]
    return UnknownName(noun=f"model of {endpoint.title}", name=asked.model, known=names)


def _able_to_write(listed: list[Installed]) -> list[Installed]:
    return [model for model in listed if why_not_chosen(model) != DOES_NOT_WRITE]


def _what_to_do(endpoint: Endpoint, listed: list[Installed], model: str = "") -> str:
    """How to name one of these models, and, on Ollama, how to get the one that was asked for. A shell takes all of it as it is."""
    options = [f"--models {shlex.quote(endpoint.text_for(entry.name))}" for entry in _able_to_write(listed)]
    advice = [f"Write {' or '.join(options[:names_shown_max])} to name one."] if options else []
    if len(options) > names_shown_max:
        command = shlex.join(["glasshouse", "models", "--models", endpoint.text_for()])
        advice.append(f"`{command}` lists the other {len(options) - names_shown_max}.")
    if endpoint.server == "ollama":
        words = ["glasshouse", "models", "pull", model or suggested_model]
        words += [] if endpoint.url == KNOWN_SERVERS["ollama"].url else ["--models", endpoint.url]
        advice.append(f"Get {'it' if model else 'one'}: {shlex.join(words)}")
    return " ".join(advice) or "Start it with a model that writes."


def _context_of(asked: Asked, installed: Installed | None) -> int:
    """How many tokens a prompt and its reply may have together. Refused if that is more than the server gives."""
    if asked.context_tokens is None:
        return usual_context_tokens if installed is None else installed.context_tokens_usual
    most = installed.context_tokens if installed is not None else None
    if most is not None and asked.context_tokens > most:
        reason = f"{asked.model} is given context_tokens {asked.context_tokens:,}, and {asked.endpoint.title} has {most:,}."
        raise Refused(reason, "Lower it, or start the server with more.")
    return asked.context_tokens


suggested_model: Final = "gemma3:4b"
"""The model to get if Ollama has none: small, and without thinking."""


def missing_models(models: NamedModels, name: str | None) -> list[tuple[str, str]]:
    """What Ollama would have to download, as addresses and names: the model named, else all that were asked for and are
    not there. If only the server was named, and nothing can play, a model to begin with."""
    asked = {choice.endpoint: choice for choice in models.choices() if choice.endpoint.server == "ollama"}
    if name is not None:
        if not asked:
            raise Refused(
                "Only Ollama downloads models.",
                f"Write: glasshouse models pull {shlex.quote(name)} --models ollama",
            )
        return [(next(iter(asked)).url, name)]
    answers = models.endpoints().values()
    for problem in [answer for answer in answers if isinstance(answer, ModelUnreachable)]:
        raise problem
    choices = [choice for choice in models.choices() if choice.endpoint.server == "ollama" and choice.problem]
    return [*dict.fromkeys((choice.endpoint.url, choice.model or suggested_model) for choice in choices)]


async def pull_model(url: str, model: str, on_progress: Callable[[str, int, int], None]) -> None:
    """Have the Ollama server at this address download a model.

    `on_progress` gets the step, and how many bytes of how many there are. What it raises ends the download.
    """
    from glasshouse.models import ollama

    await ollama.pull(url, model, lambda step: on_progress(*step))

from glasshouse import contests as contests
from glasshouse import errors as errors
from glasshouse import events as events
from glasshouse import frameworks as frameworks
from glasshouse import manifests as manifests
from glasshouse import models as models
from glasshouse import testing as testing
from glasshouse import tools as tools
from glasshouse import views as views
from glasshouse.assembly import MemoryStore as MemoryStore
from glasshouse.assembly import ModelRouter as ModelRouter
from glasshouse.assembly import SqliteStore as SqliteStore
from glasshouse.assembly import Toolbox as Toolbox
from glasshouse.assembly import tool as tool
from glasshouse.errors import BudgetExceeded as BudgetExceeded
from glasshouse.errors import Refused as Refused
from glasshouse.events import kinds as kinds
from glasshouse.events.event import Draft as Draft
from glasshouse.events.event import EngineEvent as EngineEvent
from glasshouse.events.event import Event as Event
from glasshouse.events.filter import EventFilter as EventFilter
from glasshouse.events.payloads import Governor as Governor
from glasshouse.manifests.manifest import Manifest as Manifest
from glasshouse.manifests.scenario import Scenario as Scenario
from glasshouse.runtime.ledger.observer import Observer as Observer
from glasshouse.runtime.minds.minds import Agent as Agent
from glasshouse.runtime.past.what_if import WhatIf as WhatIf
from glasshouse.terrarium import Terrarium as Terrarium
from glasshouse.terrarium import play as play
from glasshouse.terrarium import verify as verify
from glasshouse.turns.moment.moment import Moment as Moment
from glasshouse.views.diff import ViewDiff as ViewDiff
from glasshouse.views.stage import StageProjection as StageProjection
from glasshouse.views.stage import rebuild_stage as rebuild_stage
from glasshouse.world.state.values import Environment as Environment

__all__: list[str]
__version__: str

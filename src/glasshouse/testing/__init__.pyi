from glasshouse.models.scripted import CountingModel as CountingModel
from glasshouse.models.scripted import ScriptedModel as ScriptedModel
from glasshouse.runtime.played import Played as Played
from glasshouse.testing.offline import play_offline as play_offline

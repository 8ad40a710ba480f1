from glasshouse.models.scripted import CountingModel as CountingModel
from glasshouse.models.scripted import ScriptedModel as ScriptedModel
from glasshouse.runtime.played import Played as Played
from glasshouse.testing.contracts.model_contract import ModelContract as ModelContract
from glasshouse.testing.contracts.store_contract import StoreContract as StoreContract
from glasshouse.testing.offline import play_offline as play_offline

from glasshouse.manifests.loading import LoadedWorld as LoadedWorld
from glasshouse.manifests.loading import load_world as load_world
from glasshouse.manifests.manifest import Manifest as Manifest
from glasshouse.manifests.manifest import Memory as Memory
from glasshouse.manifests.manifest import Schedule as Schedule
from glasshouse.manifests.manifest import Voice as Voice
from glasshouse.manifests.scenario import Scenario as Scenario
from glasshouse.runtime.minds.minds import ManifestAgent as ManifestAgent

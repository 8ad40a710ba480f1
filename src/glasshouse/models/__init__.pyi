from glasshouse.models.router import ModelRouter as ModelRouter
from glasshouse.runtime.ports import Model as Model
from glasshouse.runtime.ports import Route as Route
from glasshouse.runtime.ports import Router as Router
from glasshouse.turns.moment.prompt import Completion as Completion
from glasshouse.turns.moment.prompt import Prompt as Prompt

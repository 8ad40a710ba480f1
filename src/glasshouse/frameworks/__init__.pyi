from glasshouse.frameworks.agent_framework import MomentChatClient as MomentChatClient
from glasshouse.frameworks.chat import scene_of as scene_of
from glasshouse.frameworks.langchain import MomentChatModel as MomentChatModel
from glasshouse.frameworks.pydantic_ai import MomentModel as MomentModel

__all__: list[str]

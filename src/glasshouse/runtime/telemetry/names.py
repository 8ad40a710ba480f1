"""The names of spans, attributes and metrics.

The `gen_ai.*` names are those of the semantic conventions at `SCHEMA_URL`, the last version of them that defines these names
in the common conventions. They are still in development: whoever moves to another version changes this module alone.
"""

from __future__ import annotations

from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.41.0"
SCOPE: Final = "glasshouse"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
WORKFLOW_NAME: Final = "gen_ai.workflow.name"
AGENT_ID: Final = "gen_ai.agent.id"
AGENT_NAME: Final = "gen_ai.agent.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_SEED: Final = "gen_ai.request.seed"
REQUEST_TOKENS_MAX: Final = "gen_ai.request.max_tokens"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_creation.input_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 (a name, not a secret)
ERROR_TYPE: Final = "error.type"

# The attributes that hold texts. They are set only if somebody asked for content.
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

INVOKE_WORKFLOW: Final = "invoke_workflow"
INVOKE_AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"
OPERATIONS: Final = frozenset({INVOKE_WORKFLOW, INVOKE_AGENT, CHAT, EXECUTE_TOOL})
"""The operations that the conventions know."""
GRAPH_EDIT: Final = "graph_edit"

RUN_ID: Final = "glasshouse.run.id"
RUN_REASON: Final = "glasshouse.run.finish_reason"
RUN_TURNS: Final = "glasshouse.run.turns"
EVENT_ID: Final = "glasshouse.event.id"
EVENT_KIND: Final = "glasshouse.event.kind"
CAUSE_ID: Final = "glasshouse.event.caused_by"
GRAPH_ID: Final = "glasshouse.graph.id"
TURN: Final = "glasshouse.turn"
USD: Final = "glasshouse.cost_usd"
QUEUED_SECONDS: Final = "glasshouse.queued_seconds"
EDIT: Final = "glasshouse.edit"
EDIT_CHANGE: Final = "glasshouse.edit.change"
EDIT_OLD_GRAPHS: Final = "glasshouse.edit.old_graphs"
EDIT_NEW_GRAPHS: Final = "glasshouse.edit.new_graphs"

METRIC_TOKENS: Final = "gen_ai.client.token.usage"
METRIC_CALL_SECONDS: Final = "gen_ai.client.operation.duration"
METRIC_ACTS: Final = "glasshouse.acts"
METRIC_USD: Final = "glasshouse.cost"
METRIC_WAITING: Final = "glasshouse.model.queue"
METRIC_QUEUED_SECONDS: Final = "glasshouse.model.queue.duration"
METRIC_COMMIT_SECONDS: Final = "glasshouse.commit.duration"
METRIC_COMMIT_EVENTS: Final = "glasshouse.commit.events"

from glasshouse.events.described_tool import DescribedTool as DescribedTool
from glasshouse.runtime.ports import Approver as Approver
from glasshouse.runtime.ports import Proposal as Proposal
from glasshouse.runtime.ports import Verdict as Verdict
from glasshouse.tools.function import tool as tool
from glasshouse.tools.mcp.tool_server import ToolServer as ToolServer
from glasshouse.tools.toolbox import Toolbox as Toolbox
from glasshouse.turns.moment.tools import ToolAnswer as ToolAnswer

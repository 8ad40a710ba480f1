from glasshouse.grids.cells import Cell as Cell
from glasshouse.grids.grid import Grid as Grid
from glasshouse.grids.grid import Progress as Progress
from glasshouse.grids.grid import experiment as experiment
from glasshouse.grids.rows import Row as Row
from glasshouse.grids.summary import Figure as Figure
from glasshouse.grids.tables import GridTable as GridTable
from glasshouse.grids.tables import read_grid as read_grid

__all__: list[str]

"""What every store must do: derive a class from `StoreContract`, and let pytest find it."""

from __future__ import annotations

from glasshouse.testing.contracts.inbox_contract import InboxContract
from glasshouse.testing.contracts.ledger_contract import LedgerContract
from glasshouse.testing.contracts.lives_contract import LivesContract
from glasshouse.testing.contracts.side_tables_contract import SideTablesContract
from glasshouse.testing.contracts.word_index_contract import WordIndexContract


class StoreContract(LedgerContract, LivesContract, SideTablesContract, InboxContract, WordIndexContract):
    """All that a terrarium asks of a store."""

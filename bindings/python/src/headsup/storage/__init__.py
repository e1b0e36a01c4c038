"""The store: one SQLite connection that implements the contract's `storage` and `settings`.

The SQL is that of every other host, `host/sql/`; these modules are the glue over it. What each verb
guarantees is said once, in `wit/storage.wit`.
"""

from .store import Store
from .options import StoreOptions

__all__ = ["Store", "StoreOptions"]

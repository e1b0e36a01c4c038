"""Reading what the core plans for adopted sessions: files inside the folders that are allowed. What
the bytes mean is the core's business; here it is only told apart whether a file is there, is
definitively not there, could not be read this time, or may not be read at all.

Nothing of a file's content reaches an error, the log or the store.
"""

from .files import FolderFiles, SourceFiles
from .folders import user_folders

__all__ = ["FolderFiles", "SourceFiles", "user_folders"]

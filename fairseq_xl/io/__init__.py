"""Files: errors, atomic writing, folders, databases, readers of tables, progress."""

"""People that a workspace writes to, audiences of them, and recipient channels: kept, imported, exported."""

"""Cells of a table that spreadsheets open: text stays text.

A cell that begins like a formula is run by spreadsheets when a file is opened; `guard` puts an apostrophe
before it, `unguard` takes it off again, so that what was exported comes back as it was.
"""

# And their wide twins. What stands behind a bar is run as a command by some (DDE).
_FORMULA = ("=", "+", "-", "@", "|", "\t", "\r", *"\uff1d\uff0b\uff0d\uff20\uff5c")


def guard(cell: str) -> str:
    """Return the cell so that no spreadsheet takes it for a formula."""
    begins = cell.lstrip("'")
    return f"'{cell}" if begins.startswith(_FORMULA) else cell


def unguard(cell: str) -> str:
    """Return what was guarded."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA) else cell

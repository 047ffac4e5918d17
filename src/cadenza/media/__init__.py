"""Files that posts send along: taken in, checked by their content, kept once, shown small, cleaned up.

Start with `model.py` (what a file is) and `upload.py` (the walk of one from bytes to row); `use.py`
says which posts need it, `storage.py` where its bytes lie. Networks' own limits are the adapters'.
"""

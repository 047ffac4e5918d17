"""Posts: content with its variants, its approval, and what becomes of it on each account and channel.

Start with `model.py`, then `compose.py` (a post as one channel gets it) and `create.py`. Planners above
give its pieces their instants; `deliveries/` below sends them.
"""

"""The one guarded way out: every request of the product to the world goes through `OutboundClient`.

Start with `client.py` (the walk of a request), then `dial.py` (the door), `judge.py` and `policy.py`
(who may be called), `outcome.py` (what a caller gets), `redact.py` (what nobody gets to read). A lint
keeps every other HTTP library, and this one's, out of the rest of the product.
"""

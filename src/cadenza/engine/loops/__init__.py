"""The background duties of a worker: each is one pass that says when to come again."""

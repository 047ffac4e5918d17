"""The benchmark room: Cadenza beside its peers, same machine, same servers, same run.

`python -m bench` (or `make bench`) starts private servers, drives every system through the
same works in interleaved rounds and writes medians with their spread as Markdown. It
compares within one run only: absolute figures from two machines say nothing together.
"""

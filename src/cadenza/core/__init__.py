"""Pure arithmetic of time and limits: values in, values out, no database, no socket.

Two modules are ports instead: `clock` and `ids`, the only doors for time and chance.
"""

"""Local servers that behave like networks: strict, forgetful, slow or broken, as a plan says.

Open them with `async with rehearse(SimulatedMastodon()) as stage:`; see kernel.py. They are as true as
what is written in each world: a green rehearsal is no proof about the live network.
"""

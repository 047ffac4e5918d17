"""Local servers that behave like networks: strict, forgetful, slow or broken, as a plan says.

Open them with `async with simulate(SimulatedMastodon()) as simulator:`; see serve.py. They are as true as
what is written in each network: passing here is no proof about the live network.
"""

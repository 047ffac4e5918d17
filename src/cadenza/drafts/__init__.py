"""Categories, assets, rules, and the generator that lays out posts ahead of time."""

"""One file a network: its routes, its rules, its words when it refuses."""

"""Who sends: connected identities with their zone, hours, limits, health and sealed credentials."""

"""The one road: every delivery is claimed, prepared, permitted, called once and settled here."""

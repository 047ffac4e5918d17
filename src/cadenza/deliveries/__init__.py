"""The delivery pipeline: every delivery is claimed, prepared, permitted, called once and settled here."""

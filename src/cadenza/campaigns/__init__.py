"""Broadcast campaigns: one template to an audience, under a rate, counted to the last recipient."""

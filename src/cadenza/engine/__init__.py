"""The embeddable job engine: leases, retries, schedules and limits on any store."""

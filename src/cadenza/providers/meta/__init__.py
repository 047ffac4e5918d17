"""What Meta's networks share: the Graph's requests, refusals, tokens and containers. No network itself."""

"""How each network is spoken to: one folder a provider, one protocol, one outbound client."""

"""Who may do what: people, their sessions and second factors, memberships, invitations, API keys."""

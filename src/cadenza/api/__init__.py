"""HTTP: one file a resource, one list of them, one declaration a route of who may do it."""

-- When something of the queue becomes runnable.
return next_due(load_gate(nil))

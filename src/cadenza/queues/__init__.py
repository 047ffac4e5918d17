"""The queue of an account: weekly slots, and which post takes which of them."""

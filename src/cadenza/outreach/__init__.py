"""Paced one-to-one messages: sequences of steps, planned under the limits of the accounts that send them."""

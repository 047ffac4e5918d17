"""Why a process cannot start; light enough for every command to know it."""


class CannotStart(Exception):
    """Something that the application needs is not as it must be; the message says what to do."""

"""The one process pool: lanes of worker processes, and how tasks are handed to them."""

"""The learning service: agents behind HTTP, their journal, keys, pages and clients."""
